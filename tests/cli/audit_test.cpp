// audit from the command line: features, folders with broken and small images, a page, exit codes.
#include <fmt/format.h>

#include "annulus/vision/image/svg.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

void write_picture(const std::string& file, const std::string& drawing, std::size_t side) {
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  const auto png = render_svg("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8 8\">" + drawing + "</svg>",
                              side, "picture");
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
}

// A square of the class's colour on grey, no two alike.
std::string drawing(std::size_t label, std::size_t number) {
  const std::size_t shade = 200 + 2 * number;
  return fmt::format(
      "<rect width=\"8\" height=\"8\" fill=\"rgb(90,90,90)\"/><rect x=\"{}\" y=\"{}\" width=\"6.5\" height=\"6.5\" "
      "fill=\"rgb({},{},{})\"/>",
      0.3 * static_cast<double>(number % 4), 0.3 * static_cast<double>(number / 4 % 4), label == 2 ? shade : number,
      label == 1 ? shade : number, label == 0 ? shade : number);
}

class AuditImages : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    const char* names[] = {"blue", "green", "red"};
    for (std::size_t i = 0; i < 30; ++i) {
      write_picture(scratch_ / fmt::format("photos/{}/{:02}.png", names[i % 3], i), drawing(i % 3, i / 3), 16);
    }
  }

  Outcome run(std::vector<std::string> arguments) {
    const std::vector<std::string> encoder = {
        "--backbone",   std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx",
        "--preprocess", "unit resize=8x8 crop=none",
        "--cache",      scratch_ / "cache"};
    arguments.insert(arguments.end(), encoder.begin(), encoder.end());
    return run_annulus(scratch_, std::move(arguments));
  }

  // Findings of a kind.
  std::vector<nlohmann::json> findings(const std::string& kind) {
    std::ifstream file(scratch_ / "findings.jsonl");
    std::vector<nlohmann::json> found;
    for (std::string line; std::getline(file, line);) {
      auto json = nlohmann::json::parse(line);
      if (json["kind"] == kind) found.push_back(std::move(json));
    }
    return found;
  }

  Scratch scratch_;
};

TEST_F(AuditImages, NamesBrokenSmallFlatDoubleAndMisplacedImages) {
  std::ofstream(scratch_ / "photos/red/broken.jpg") << "no image";
  write_picture(scratch_ / "photos/red/small.png", drawing(2, 11), 5);
  write_picture(scratch_ / "photos/green/flat.png", "<rect width=\"8\" height=\"8\" fill=\"rgb(0,180,0)\"/>", 16);
  std::filesystem::copy_file(scratch_ / "photos/red/02.png", scratch_ / "photos/red/copy.png");
  write_picture(scratch_ / "photos/red/resized.png", drawing(2, 3), 48);  // of 11.png
  write_picture(scratch_ / "photos/blue/misplaced.png", drawing(2, 13), 16);
  std::filesystem::create_directories(scratch_ / "photos/empty");
  const Outcome outcome =
      run({"audit", scratch_ / "photos", "--jsonl", scratch_ / "findings.jsonl", "--html", scratch_ / "audit.html"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(findings("corrupt").size(), 1U);
  EXPECT_EQ(findings("corrupt")[0]["path"], scratch_ / "photos/red/broken.jpg");
  ASSERT_EQ(findings("tiny").size(), 1U);
  EXPECT_EQ(findings("tiny")[0]["path"], scratch_ / "photos/red/small.png");
  ASSERT_EQ(findings("flat").size(), 1U);
  EXPECT_EQ(findings("flat")[0]["path"], scratch_ / "photos/green/flat.png");
  ASSERT_EQ(findings("empty-class").size(), 1U);
  EXPECT_EQ(findings("empty-class")[0]["class"], "empty");
  ASSERT_EQ(findings("duplicate").size(), 1U);
  EXPECT_EQ(findings("duplicate")[0]["other_path"], scratch_ / "photos/red/copy.png");
  const auto near = findings("near-duplicate");
  EXPECT_TRUE(std::any_of(near.begin(), near.end(), [&](const nlohmann::json& pair) {
    return pair["path"] == scratch_ / "photos/red/11.png" && pair["other_path"] == scratch_ / "photos/red/resized.png";
  })) << nlohmann::json(near).dump();
  const auto suspects = findings("mislabelled");
  ASSERT_FALSE(suspects.empty());
  EXPECT_EQ(suspects[0]["path"], scratch_ / "photos/blue/misplaced.png");
  const std::string page = read_text(scratch_ / "audit.html");
  EXPECT_NE(page.find("data:image/webp;base64,"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
}

TEST_F(AuditImages, LeaksBetweenFoldersOfASplitAreToldAndCanFail) {
  for (const char* part : {"train", "test"}) {
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t number = std::string(part) == "test" ? i + 12 : i;
      write_picture(scratch_ / fmt::format("split/{}/{}/{:02}.png", part, i % 2 == 0 ? "a" : "b", i),
                    drawing(i % 2, number), 16);
    }
  }
  std::filesystem::copy_file(scratch_ / "split/train/a/00.png", scratch_ / "split/test/a/leak.png");
  const Outcome outcome = run({"audit", scratch_ / "split", "--jsonl", scratch_ / "findings.jsonl"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("leakage"), std::string::npos) << outcome.out;
  ASSERT_FALSE(findings("leakage").empty());
  EXPECT_EQ(findings("leakage")[0]["path"], scratch_ / "split/test/a/leak.png");
  EXPECT_EQ(findings("leakage")[0]["other_path"], scratch_ / "split/train/a/00.png");
  expect_complaint(run({"audit", scratch_ / "split", "-q", "--fail-on", "corrupt,leakage"}), 3, "leakage");
  EXPECT_EQ(run({"audit", scratch_ / "split", "-q", "--fail-on", "corrupt"}).exit_code, 0);
}

TEST_F(AuditImages, ImagesWithoutClassesAreRejected) {
  write_picture(scratch_ / "flat/1.png", drawing(0, 1), 16);
  write_picture(scratch_ / "flat/2.png", drawing(0, 2), 16);
  expect_complaint(run({"audit", scratch_ / "flat", "-q"}), 3, "expected labelled images");
}

TEST(AuditFeatures, WritesTheSummaryAndTheSameForAnyThreads) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome one = run_annulus(scratch, {"audit", features, "--json", "--threads", "1"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const auto json = nlohmann::json::parse(one.out);
  EXPECT_GT(json["examples"], 0);
  EXPECT_TRUE(json["counts"].contains("mislabelled"));
  EXPECT_FALSE(json["learning_curve"]["measured"].empty());
  EXPECT_EQ(run_annulus(scratch, {"audit", features, "--json", "--threads", "3"}).out, one.out);
  const Outcome text = run_annulus(scratch, {"audit", features});
  EXPECT_TRUE(text.out.starts_with("audited ")) << text.out;
  EXPECT_EQ(run_annulus(scratch, {"audit", features, "--quiet"}).out, "");
}

TEST(AuditFeatures, WrongOptionsAreRejected) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  expect_complaint(run_annulus(scratch, {"audit", features, "--fail-on", "typos"}), 2, "alike-classes");
  expect_complaint(run_annulus(scratch, {"audit", features, "--suspects", "101"}), 2, "--suspects");
  expect_complaint(run_annulus(scratch, {"audit", scratch / "missing.npz"}), 5, "missing.npz");
}

}  // namespace
}  // namespace annulus
