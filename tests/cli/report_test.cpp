// report: the files it writes, and what it does with files that are no results.
#include <fmt/format.h>

#include <set>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

const std::string kReports = std::string(ANNULUS_TEST_DATA) + "/reports/";

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.insert(std::filesystem::relative(entry.path(), folder).string());
  }
  return names;
}

TEST(Report, WritesPageTablesPlotsAndResults) {
  const Scratch scratch;
  const std::string folder = scratch / "deep/report";
  const Outcome outcome = run_annulus(scratch, {"report", kReports + "many_way.json", "-o", folder});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(folder + "/report.html"), std::string::npos) << outcome.out;
  const auto files = files_in(folder);
  for (const char* name : {"report.html", "tables.md", "tables.tex", "tables.csv", "results.json", "plots/accuracy.svg",
                           "plots/accuracy.png", "plots/class-gain-5.png", "plots/calibration-16.svg",
                           "plots/search-1-ibm2-1.png", "plots/seconds.svg"}) {
    EXPECT_TRUE(files.contains(name)) << name;
  }
  EXPECT_EQ(files.size(), 5U + 2U * (1 + 3 + 3 + 3 + 1)) << "nothing else, no temporary file";
  EXPECT_TRUE(read_text(folder + "/plots/accuracy.png").starts_with("\x89PNG"));
  const std::string page = read_text(folder + "/report.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("src=\"data:image/webp;base64,"), std::string::npos) << "pictures are found beside the document";
  const auto results = nlohmann::json::parse(read_text(folder + "/results.json"));
  EXPECT_EQ(results["documents"][0], nlohmann::json::parse(read_text(kReports + "many_way.json")));
}

TEST(Report, ReadsItsOwnResultsAgainAndSeveralFiles) {
  const Scratch scratch;
  ASSERT_EQ(
      run_annulus(scratch, {"report", "-q", kReports + "older.json", kReports + "episodes.json", "-o", scratch / "a"})
          .exit_code,
      0);
  const auto files = files_in(scratch / "a");
  EXPECT_TRUE(files.contains("plots/1-accuracy.svg"));
  EXPECT_TRUE(files.contains("plots/2-worst-5.png"));
  const Outcome again = run_annulus(scratch, {"report", "-q", scratch / "a/results.json", "-o", scratch / "b"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(read_text(scratch / "a/tables.tex"), read_text(scratch / "b/tables.tex"));
  EXPECT_EQ(read_text(scratch / "a/results.json"), read_text(scratch / "b/results.json"));
}

TEST(Report, PicturesCanBeLeftOut) {
  const Scratch scratch;
  ASSERT_EQ(run_annulus(scratch, {"report", "-q", "--no-pictures", kReports + "many_way.json", "-o", scratch / "r"})
                .exit_code,
            0);
  EXPECT_EQ(read_text(scratch / "r/report.html").find("<img"), std::string::npos);
}

TEST(Report, TakesWhatEvaluateAndEpisodesWrite) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  ASSERT_EQ(run_annulus(scratch, quickly({"evaluate", features, "--shots", "1,3", "--subsets", "2", "--json",
                                          scratch / "e.json"}))
                .exit_code,
            0);
  ASSERT_EQ(run_annulus(scratch, quickly({"episodes", features, "--shots", "1", "--ways", "3", "--queries", "3",
                                          "--episodes", "4", "--seeds", "2", "--json", scratch / "p.json"}))
                .exit_code,
            0);
  const Outcome outcome = run_annulus(scratch, {"report", scratch / "e.json", scratch / "p.json", "-o", scratch / "r"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(read_text(scratch / "r/tables.md").find("## Episodes: features.safetensors"), std::string::npos);
  const auto json = nlohmann::json::parse(read_text(scratch / "e.json"));
  EXPECT_NE(read_text(scratch / "r/report.html")
                .find(fmt::format("{:.2f}", json["results"][0]["accuracy_mean"].get<double>())),
            std::string::npos);
}

TEST(Report, OtherFilesAreRejectedAndNothingIsWritten) {
  const Scratch scratch;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(scratch / name) << text;
    return scratch / name;
  };
  const std::string folder = scratch / "r";
  expect_complaint(run_annulus(scratch, {"report", scratch / "missing.json", "-o", folder}), 5, "missing.json");
  expect_complaint(run_annulus(scratch, {"report", write("text.json", "hello"), "-o", folder}), 4, "results document");
  expect_complaint(run_annulus(scratch, {"report", write("other.json", R"({"a": 1})"), "-o", folder}), 4, "protocol");
  expect_complaint(run_annulus(scratch, {"report", kReports + "older.json", scratch / "other.json", "-o", folder}), 4,
                   "other.json");
  expect_complaint(run_annulus(scratch, {"report", scratch.folder().string(), "-o", folder}), 5, "");
  expect_complaint(run_annulus(scratch, {"report"}), 2, "RESULTS");
  EXPECT_TRUE(files_in(folder).empty());
  expect_complaint(run_annulus(scratch, {"report", kReports + "older.json", "-o", scratch / "text.json"}), 5,
                   "text.json");
}

}  // namespace
}  // namespace annulus
