// The facade (annulus/annulus.h) does what the program does: the same model files and predictions, to the last bit.
#include "annulus/annulus.h"

#include <fmt/format.h>

#include "annulus/vision/image/svg.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

// Predictions of the program, written with all digits.
std::vector<nlohmann::json> program_predictions(const Scratch& scratch, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"predict"});
  arguments.insert(arguments.end(), {"--format", "jsonl", "-q"});
  const Outcome outcome = run_annulus(scratch, arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return parse_json_lines(outcome.out);
}

void expect_same(const std::vector<Prediction>& found, const std::vector<nlohmann::json>& expected,
                 const Model& model) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].label, expected[i]["label"]) << i;
    EXPECT_EQ(found[i].probability, expected[i]["probability"].get<float>()) << i;
    ASSERT_EQ(found[i].top.size(), expected[i]["top"].size()) << i;
    for (std::size_t j = 0; j < found[i].top.size(); ++j) {
      const RankedClass& ranked = found[i].top[j];
      EXPECT_EQ(model.class_names[static_cast<std::size_t>(ranked.index)], expected[i]["top"][j]["label"]) << i;
      EXPECT_EQ(ranked.probability, expected[i]["top"][j]["probability"].get<float>()) << i;
    }
  }
}

class Facade : public testing::Test {
 protected:
  Scratch scratch_;
};

TEST_F(Facade, FitsAndPredictsAsTheProgramDoes) {
  const std::string features = write_small_features(scratch_);
  const std::string by_program = scratch_ / "program.safetensors";
  ASSERT_EQ(run_annulus(scratch_, {"fit", features, "-q", "-o", by_program}).exit_code, 0);
  const FeatureSet set = load_features(features);
  const Model model = fit(set);
  save(model, scratch_ / "facade.safetensors");
  EXPECT_EQ(read_text(scratch_ / "facade.safetensors"), read_text(by_program));

  const auto expected = program_predictions(scratch_, {by_program, features, "--top", "3"});
  expect_same(predict(load_model(by_program), set, {.top = 3}), expected, model);
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  expect_same(predict(model, std::as_const(rows).view(), {.top = 3, .threads = 1}), expected, model);
}

TEST_F(Facade, ScoresAsTheProgramDoes) {
  const std::string features = write_small_features(scratch_);
  const FeatureSet set = load_features(features);
  const Model model = fit(set);
  save(model, scratch_ / "model.safetensors");
  const Outcome outcome = run_annulus(
      scratch_, {"score", scratch_ / "model.safetensors", features, "--false-reject", "0.1", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto expected = nlohmann::json::parse(outcome.out);
  const ScoreReport report = score(model, set, {.false_reject = 0.1});
  EXPECT_EQ(report.accuracy, expected["accuracy"].get<double>());
  EXPECT_EQ(report.interval.low, expected["interval"][0].get<double>());
  EXPECT_EQ(report.calibration_error, expected["calibration"]["ece"].get<double>());
  EXPECT_EQ(report.rejection.rejected, expected["unknown"]["chosen"]["rejected"].get<double>());
  EXPECT_EQ(report.left_out, 36U);
}

TEST_F(Facade, OptionsAreThoseOfTheProgram) {
  const std::string features = write_small_features(scratch_);
  const std::string by_program = scratch_ / "program.safetensors";
  const Outcome outcome =
      run_annulus(scratch_, {"fit", features, "--recipe", "ibm2", "--shots", "4", "--seed", "3", "--no-calibrate",
                             "--strip", "--licence", "CC0", "--threads", "1", "-q", "-o", by_program});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  FitOptions options;
  options.recipe = "ibm2";
  options.shots = 4;
  options.seed = 3;
  options.calibrate = false;
  options.keep_examples = false;
  options.data_licence = "CC0";
  std::size_t reports = 0;
  options.progress = [&](const Progress&) { return ++reports != 0; };
  const FeatureSet set = load_features(features);
  const Model model = fit(set, options);
  EXPECT_GT(reports, 0U);
  save(model, scratch_ / "facade.safetensors");
  EXPECT_EQ(read_text(scratch_ / "facade.safetensors"), read_text(by_program));
  EXPECT_TRUE(model.support.empty());
}

TEST_F(Facade, ErrorsSayWhatTheyAreAbout) {
  const FeatureSet set = load_features(write_small_features(scratch_));
  expect_error(ErrorKind::kUsage, "recipe", [&] { fit(set, {.recipe = "guess"}); });
  expect_error(ErrorKind::kInput, "", [&] { fit(set, {.shots = 100}); });
  expect_error(ErrorKind::kIo, "none.npz", [&] { load_features(scratch_ / "none.npz"); });
  expect_error(ErrorKind::kIo, "none", [&] { load_model(scratch_ / "none.safetensors"); });
  expect_error(ErrorKind::kCancelled, "", [&] { fit(set, {.progress = [](const Progress&) { return false; }}); });
  FitOptions quick;
  quick.calibrate = false;
  quick.keep_examples = false;
  const Model model = fit(set, quick);
  expect_error(ErrorKind::kUsage, "top", [&] { predict(model, set, {.top = 0}); });
  expect_error(ErrorKind::kUsage, "", [&] { predict(model, set, {.false_reject = 1.0}); });
  expect_error(ErrorKind::kInput, "training examples", [&] { predict(model, set, {.explain = true}); });
  const Matrix<float> narrow(1, 3);
  expect_error(ErrorKind::kInput, "dimension", [&] { predict(model, narrow.view()); });
  EXPECT_EQ(run_annulus(scratch_, {"--version"}).out, fmt::format("annulus {}\n", version()));
}

class FacadeImages : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    for (std::size_t i = 0; i < 24; ++i) {
      const std::string file = scratch_ / fmt::format("photos/{}/{:02}.png", i % 2 == 0 ? "dark" : "light", i);
      std::filesystem::create_directories(std::filesystem::path(file).parent_path());
      const std::size_t shade = i % 2 == 0 ? i : 200 + i;
      const std::string svg = fmt::format(
          R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="rgb({0},{0},99)"/></svg>)svg",
          shade);
      const auto png = render_svg(svg, 16, "test picture");
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
    }
    options_.preprocess = "unit resize=8x8 crop=none";
    options_.cache = scratch_ / "cache";
  }

  Scratch scratch_;
  const std::string backbone_ = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  ImageOptions options_;
};

TEST_F(FacadeImages, PhotosBecomeTheModelAndThePredictionsOfTheProgram) {
  const std::string photos = scratch_ / "photos";
  std::ofstream(scratch_ / "photos/dark/broken.jpg") << "no image";
  const std::vector<std::string> encoder{"--backbone",        backbone_, "--preprocess",
                                         options_.preprocess, "--cache", scratch_ / "cache"};
  const std::string by_program = scratch_ / "program.safetensors";
  std::vector<std::string> arguments{"fit", photos, "-q", "-o", by_program};
  arguments.insert(arguments.end(), encoder.begin(), encoder.end());
  ASSERT_EQ(run_annulus(scratch_, arguments).exit_code, 0);

  std::vector<std::string> notes;
  options_.note = [&](const std::string& note) { notes.push_back(note); };
  const FeatureSet set = load_images(photos, backbone_, options_);
  EXPECT_EQ(set.rows(), 24U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("broken.jpg"), std::string::npos);
  const Model model = fit(set);
  save(model, scratch_ / "facade.safetensors");
  EXPECT_EQ(read_text(scratch_ / "facade.safetensors"), read_text(by_program));

  arguments = {by_program, photos};
  arguments.insert(arguments.end(), encoder.begin(), encoder.end());
  const FeatureSet input = load_input(model, photos, options_, backbone_);
  expect_same(predict(model, input), program_predictions(scratch_, arguments), model);
  options_.strict = true;
  expect_error(ErrorKind::kFormat, "broken.jpg", [&] { load_images(photos, backbone_, options_); });
  expect_error(ErrorKind::kInput, "backbone", [&] {
    load_input(model, photos, options_, std::string(ANNULUS_TEST_DATA) + "/backbones/channels_last.onnx");
  });
}

}  // namespace
}  // namespace annulus
