// score: what it prints and writes, and what it says of input that cannot be scored.
#include <fmt/format.h>

#include "annulus/vision/image/svg.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string fit_quickly(const Scratch& scratch, const std::string& data, std::vector<std::string> more = {}) {
  const std::string model = scratch / "model.safetensors";
  std::vector<std::string> arguments{"fit", data, "-q", "-o", model};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome fit = run_annulus(scratch, quickly(std::move(arguments)));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  return model;
}

// The generated features under other class names, without marks of training examples.
std::string write_renamed(const Scratch& scratch, std::vector<std::string> names, bool labelled = true) {
  const FeatureSet set = make_synthetic(small_data());
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  FeatureSetParts parts = parts_of(std::move(rows));
  if (labelled) {
    parts.labels.assign(set.labels().begin(), set.labels().end());
    parts.class_names = std::move(names);
  }
  write_features(FeatureSet(std::move(parts)), scratch / "renamed.npz");
  return scratch / "renamed.npz";
}

TEST(Score, PrintsASummaryAndWritesReportAndJson) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_quickly(scratch, features);
  const Outcome outcome =
      run_annulus(scratch, {"score", model, features, "-o", scratch / "report", "--json", scratch / "score.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(read_text(scratch / "score.json"));
  EXPECT_TRUE(outcome.out.starts_with(fmt::format("{:.1f} of 100 right ({:.1f} to {:.1f}; chance 16.7)\n",
                                                  json["accuracy"].get<double>(), json["interval"][0].get<double>(),
                                                  json["interval"][1].get<double>())))
      << outcome.out;
  EXPECT_NE(outcome.out.find("30 examples of 6 classes from"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("36 examples left out, marked as training examples"), std::string::npos) << outcome.out;
  EXPECT_EQ(json["examples"], 30);
  EXPECT_EQ(json["classes"].size(), 6U);
  const std::string predictions = read_text(scratch / "report/predictions.csv");
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 31);
  EXPECT_TRUE(read_text(scratch / "report/report.html").starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(read_text(scratch / "report/classes.csv").starts_with("class,"));
  EXPECT_TRUE(read_text(scratch / "report/confusion.csv").starts_with("label,"));

  // The accuracy is that of predict, which counts the same way.
  const Outcome predict = run_annulus(scratch, {"predict", model, features, "--false-reject", "0"});
  EXPECT_NE(predict.err.find(fmt::format("accuracy {:.2f} % of 30 ", json["accuracy"].get<double>())),
            std::string::npos)
      << predict.err;
}

TEST(Score, JsonToStandardOutputIsAllThatIsPrinted) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_quickly(scratch, features);
  const Outcome one = run_annulus(scratch, {"score", model, features, "--json", "-", "--threads", "1"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(nlohmann::json::parse(one.out)["correct"].get<int>() <= 30, true);
  EXPECT_EQ(run_annulus(scratch, {"score", model, features, "--json", "-", "--threads", "2"}).out, one.out);
  EXPECT_EQ(run_annulus(scratch, {"score", model, features, "-q"}).out, "");
}

TEST(Score, CountsUnknownClassesAndTellsOfTrainingExamples) {
  const Scratch scratch;
  const std::string model = fit_quickly(scratch, write_small_features(scratch));
  const std::string renamed =
      write_renamed(scratch, {"class-000", "class-001", "heron", "class-003", "class-004", "class-005"});
  const Outcome outcome = run_annulus(scratch, {"score", model, renamed, "--json", scratch / "score.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(read_text(scratch / "score.json"));
  EXPECT_EQ(json["examples"], 55);
  EXPECT_EQ(json["unknown"]["examples"], 11);
  EXPECT_EQ(json["unknown"]["labels"][0]["name"], "heron");
  EXPECT_EQ(json["training_examples_scored"], 36);
  EXPECT_NE(outcome.out.find("! 36 of the examples are among the model's training examples too"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("of 11 unknown inputs are caught"), std::string::npos) << outcome.out;
}

TEST(Score, SaysWhatCannotBeScored) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_quickly(scratch, features);
  expect_complaint(run_annulus(scratch, {"score", model, write_renamed(scratch, {}, false)}), 3,
                   "expected labelled examples");
  expect_complaint(run_annulus(scratch, {"score", model, write_renamed(scratch, {"a", "b", "c", "d", "e", "f"})}), 3,
                   "found none of them among the labels (a, b, c, ...)");
  expect_complaint(run_annulus(scratch, {"score", model, features, "--false-reject", "1"}), 2, "--false-reject");
  expect_complaint(run_annulus(scratch, {"score", model, features, "--list", features}), 2, "--list");
  // A folder that cannot be written is an error before anything is read.
  expect_complaint(run_annulus(scratch, {"score", scratch / "missing", features, "-o", model}), 5, "expected a folder");
}

class ScoreImages : public NeedsOnnxRuntime {};

TEST_F(ScoreImages, ShowsTheWorstAndChecksLabelsBeforeEncoding) {
  const Scratch scratch;
  const auto write_picture = [&](const std::string& name, std::size_t red, std::size_t green) {
    const std::string file = scratch / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    const auto png = render_svg(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 8 8\"><rect "
                                            "width=\"8\" height=\"8\" fill=\"rgb({},{},40)\"/></svg>",
                                            red, green),
                                16, "picture");
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  };
  for (std::size_t i = 0; i < 6; ++i) {
    const char* part = i < 3 ? "train" : "test";
    write_picture(fmt::format("photos/{}/red/{}.png", part, i), 200 + 5 * i, 10 * i);
    write_picture(fmt::format("photos/{}/green/{}.png", part, i), 10 * i, 200 + 5 * i);
  }
  write_picture("photos/test/green/misplaced.png", 230, 20);
  write_picture("flat/one.png", 230, 20);
  const std::vector<std::string> encoder{"--backbone", std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx",
                                         "--cache", scratch / "cache"};
  std::vector<std::string> fitting = encoder;
  fitting.insert(fitting.end(), {"--preprocess", "unit resize=8x8 crop=none"});
  const std::string model = fit_quickly(scratch, scratch / "photos", fitting);
  std::vector<std::string> scoring{"score", model, scratch / "photos", "-o", scratch / "report"};
  scoring.insert(scoring.end(), encoder.begin(), encoder.end());
  const Outcome outcome = run_annulus(scratch, scoring);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("7 examples of 2 classes"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("6 examples left out"), std::string::npos) << outcome.out;
  const std::string page = read_text(scratch / "report/report.html");
  EXPECT_NE(page.find("src=\"data:image/"), std::string::npos);
  EXPECT_NE(page.find("misplaced.png"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  // No backbone is needed to see that there are no labels.
  expect_complaint(run_annulus(scratch, {"score", model, scratch / "flat", "--backbone", scratch / "none.onnx"}), 3,
                   "expected labelled examples");
}

}  // namespace
}  // namespace annulus
