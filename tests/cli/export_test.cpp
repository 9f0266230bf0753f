// export from the command line: ONNX, C, cards and stripped models, and what is rejected.
#include <fmt/format.h>

#include <cmath>

#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/pipeline/export/model_graph.h"
#include "annulus/store/models/model_file.h"
#include "tests/fixtures/image_fixtures.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

std::string fit_model(const Scratch& scratch, const std::string& features, std::vector<std::string> more = {}) {
  const std::string model = scratch / "model.safetensors";
  more.insert(more.begin(), {"fit", features, "-q", "-o", model});
  const Outcome fit = run_annulus(scratch, quickly(more));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  return model;
}

std::vector<std::string> files_in(const Scratch& scratch) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
    const std::string name = entry.path().filename().string();
    if (name != ".out" && name != ".err") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ExportToOnnx : public NeedsOnnxRuntime {};

TEST_F(ExportToOnnx, WritesAndChecksAModelOfFeatures) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = fit_model(scratch, features);
  const Outcome text = run_annulus(scratch, {"export", model, "--onnx", scratch / "m.onnx"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("largest difference "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("for 100 feature rows"), std::string::npos) << text.out;  // 36 of support, 64 random
  const Outcome outcome = run_annulus(scratch, {"export", model, "--onnx", scratch / "again.onnx", "--json"});
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["onnx"]["input"], "features");
  EXPECT_EQ(json["onnx"]["checked"], true);
  EXPECT_LE(json["onnx"]["max_difference"], 1e-5);
  EXPECT_EQ(read_text(scratch / "m.onnx"), read_text(scratch / "again.onnx"));
  const Outcome unchecked =
      run_annulus(scratch, {"export", model, "--onnx", scratch / "u.onnx", "--no-check", "--json"});
  EXPECT_EQ(nlohmann::json::parse(unchecked.out)["onnx"]["checked"], false);
  EXPECT_EQ(read_text(scratch / "m.onnx"), read_text(scratch / "u.onnx"));
}

TEST_F(ExportToOnnx, ConditionedLinearAndStrippedModelsToo) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::vector<std::vector<std::string>> kinds{{"--transform", "auto"}, {"--head", "linear"}, {"--strip"}};
  for (const auto& kind : kinds) {
    const std::string model = fit_model(scratch, features, kind);
    const Outcome outcome = run_annulus(scratch, {"export", model, "--onnx", scratch / "m.onnx", "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_LE(nlohmann::json::parse(outcome.out)["onnx"]["max_difference"], 1e-5);
  }
}

TEST_F(ExportToOnnx, TakesImagesWhereTheModelKnowsItsBackbone) {
  const Scratch scratch;
  const std::string network = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  for (const char* name : {"a/jpeg_444.jpg", "a/jpeg_420.jpg", "b/jpeg_97x61.jpg", "b/jpeg_7x5.jpg"}) {
    const std::filesystem::path target = scratch / (std::string("photos/") + name);
    std::filesystem::create_directories(target.parent_path());
    std::filesystem::copy_file(std::string(ANNULUS_TEST_DATA) + "/images/" + target.filename().string(), target);
  }
  const std::string model =
      fit_model(scratch, scratch / "photos",
                {"--backbone", network, "--preprocess", "imagenet resize=8x8 crop=none", "--cache", scratch / "cache"});
  const Outcome whole =
      run_annulus(scratch, {"export", model, "--onnx", scratch / "m.onnx", "--backbone", network, "--json"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const auto json = nlohmann::json::parse(whole.out);
  EXPECT_EQ(json["onnx"]["input"], "images");
  EXPECT_GT(json["onnx"]["images"], 0);
  EXPECT_LE(json["onnx"]["image_max_difference"], 1e-3);
  const Outcome head = run_annulus(scratch, {"export", model, "--onnx", scratch / "h.onnx", "--head-only", "--json"});
  ASSERT_EQ(head.exit_code, 0) << head.err;
  EXPECT_EQ(nlohmann::json::parse(head.out)["onnx"]["input"], "features");
  expect_complaint(run_annulus(scratch, {"export", model, "-q", "--onnx", scratch / "n.onnx"}), 2, "--backbone");
  const std::string other = std::string(ANNULUS_TEST_DATA) + "/backbones/channels_last.onnx";
  expect_complaint(run_annulus(scratch, {"export", model, "-q", "--onnx", scratch / "n.onnx", "--backbone", other}), 3,
                   "backbone");
  EXPECT_FALSE(std::filesystem::exists(scratch / "n.onnx"));
}

TEST_F(ExportToOnnx, WritesAPageAndTellsItsSizeBefore) {
  const Scratch scratch;
  const std::string network = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  copy_photos_of_two_classes(scratch / "photos");
  const std::string model =
      fit_model(scratch, scratch / "photos",
                {"--backbone", network, "--preprocess", "imagenet resize=8x8 crop=none", "--cache", scratch / "cache"});
  // In place of a download: a script that names a folder with files of these names.
  const std::string make_share =
      "mkdir -p share runtime && touch runtime/ort.wasm.min.mjs runtime/ort-wasm-simd-threaded.mjs && "
      "printf 123456 >runtime/ort-wasm-simd-threaded.wasm && "
      "printf '#!/bin/sh\necho %s/runtime\n' \"$PWD\" >share/fetch && chmod +x share/fetch && ";
  const auto run = [&](const std::string& words) {
    const std::string command = "cd " + scratch.folder().string() + " && " + make_share +
                                "ANNULUS_SHARE=$PWD/share " ANNULUS_PROGRAM " export " + model + " --backbone " +
                                network + " --web page " + words;
    return Child(scratch, {"bash", "-c", command}).wait();
  };
  const Outcome text = run("--title 'Two kinds'");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  const std::size_t told = text.out.find("page will have ");
  ASSERT_NE(told, std::string::npos) << text.out;
  EXPECT_LT(told, text.out.find("wrote page")) << text.out;
  EXPECT_NE(read_text(scratch / "page/index.html").find("<title>Two kinds</title>"), std::string::npos);
  const Outcome again = run("--onnx model.onnx --json -");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const auto json = nlohmann::json::parse(again.out);
  EXPECT_EQ(json["web"]["folder"], "page");
  EXPECT_EQ(json["web"]["runtime_bytes"], 6);
  EXPECT_EQ(json["web"]["checked"], true);
  EXPECT_LE(json["web"]["image_max_difference"], 1e-3);
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "page")) bytes += entry.file_size();
  EXPECT_EQ(json["web"]["bytes"], bytes);
  EXPECT_EQ(read_text(scratch / "page/model.onnx"), read_text(scratch / "model.onnx"));
  EXPECT_NE(read_text(scratch / "page/index.html").find("<title>model</title>"), std::string::npos);
  std::ofstream(scratch / "page/mine.txt") << "mine";
  expect_complaint(run("-q"), 5, "found mine.txt");
}

TEST(Export, WithoutOnnxRuntimeItSaysHowToGoOn) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  const std::string command =
      "ANNULUS_ONNXRUNTIME=/nowhere " ANNULUS_PROGRAM " export " + model + " -q --onnx " + (scratch / "m.onnx");
  expect_complaint(Child(scratch, {"bash", "-c", command}).wait(), 2, "--no-check");
  EXPECT_FALSE(std::filesystem::exists(scratch / "m.onnx"));
  EXPECT_EQ(Child(scratch, {"bash", "-c", command + " --no-check"}).wait().exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(scratch / "m.onnx"));
}

// Rows of text on standard input to probabilities, the score and the class on standard output.
constexpr const char* kProgram = R"(#include <stdio.h>
#include "model.h"
int main(void) {
  float row[BIRDS_FEATURES], probabilities[BIRDS_CLASSES];
  for (;;) {
    int j, best;
    for (j = 0; j < BIRDS_FEATURES; ++j) {
      if (scanf("%f", &row[j]) != 1) return 0;
    }
    best = birds_predict(row, probabilities);
    printf("%d", best);
    for (j = 0; j < BIRDS_CLASSES && best >= 0; ++j) printf(" %.9g", (double)probabilities[j]);
    if (best >= 0) printf(" %.9g %s", (double)birds_unknown_score(row), birds_class_name(best));
    printf("\n");
  }
}
)";

Matrix<float> rows_of_small_data() {
  const FeatureSet set = make_synthetic(small_data());
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  return rows;
}

void expect_c_answers(const Model& model, const std::string& out) {
  const Matrix<float> rows = rows_of_small_data();
  Matrix<float> expected(rows.rows(), model.head.classes());
  predict_probabilities(model.head, model.temperature, rows.view(), expected.view(), 1);
  std::vector<float> scores(rows.rows());
  if (rejects_unknown(model)) unknown_scores(model, rows.view(), scores, 1);
  std::istringstream lines(out);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = std::as_const(expected).row(i);
    const float largest = *std::max_element(row.begin(), row.end());
    std::size_t best = 0;
    lines >> best;
    for (std::size_t c = 0; c < model.head.classes(); ++c) {
      float found = -1.0F;
      lines >> found;
      ASSERT_NEAR(found, row[c], 1e-5) << "row " << i;
    }
    float score = -1.0F;
    std::string name;
    lines >> score >> name;
    EXPECT_NEAR(score, rejects_unknown(model) ? scores[i] : largest, 1e-5);
    ASSERT_LT(best, model.class_names.size());
    EXPECT_EQ(name, model.class_names[best]);
    EXPECT_EQ(row[best], largest);
  }
  std::string rest;
  lines >> rest;
  EXPECT_EQ(rest, "-1");  // the row of zeros at the end
}

// The same model with a temperature and a rule that asks for all parts of a score.
std::string with_rule(const Scratch& scratch, const std::string& file, std::size_t axes) {
  Model model = read_model(file);
  model.temperature = 0.8;
  model.unknown.weights = {0.5F, -0.25F, 0.125F, 2.0F, 1.5F, 0.75F};
  model.unknown.quantiles.clear();
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) model.unknown.quantiles.push_back(0.01F * static_cast<float>(i));
  model.unknown.axes.clear();
  for (std::size_t i = 0; i < axes * model.head.dimension(); ++i) {
    model.unknown.axes.push_back(0.2F * std::cos(static_cast<float>(i * i)));
  }
  write_model(model, scratch / "rule.safetensors");
  return scratch / "rule.safetensors";
}

TEST(Export, TheCHeaderCompilesWithoutWarningsAndAnswersAsPredict) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Matrix<float> rows = rows_of_small_data();
  std::ofstream input(scratch / "rows.txt");
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (const float number : rows.row(i)) input << fmt::format("{} ", number);
  }
  for (std::size_t j = 0; j < rows.cols(); ++j) input << "0 ";
  input.close();
  std::ofstream(scratch / "main.c") << kProgram;
  const std::vector<std::vector<std::string>> kinds{
      {}, {"--head", "linear"}, {"--transform", "auto"}, {"--transform", "centre", "--head", "linear"}};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string fitted = fit_model(scratch, features, kinds[i]);
    const std::string model = i % 2 == 0 ? with_rule(scratch, fitted, i == 0 ? 0 : 3) : fitted;
    const Outcome outcome = run_annulus(scratch, {"export", model, "--c", scratch / "model.h", "--name", "birds"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const std::string& compiler : {std::string("gcc -std=c99"), std::string("g++ -std=c++11 -x c++")}) {
      const std::string command =
          fmt::format("cd '{}' && {} -Wall -Wextra -pedantic -Werror main.c -o program -lm && ./program < rows.txt",
                      scratch.folder().string(), compiler);
      const Outcome run = Child(scratch, {"bash", "-c", command}).wait();
      ASSERT_EQ(run.exit_code, 0) << run.err;
      expect_c_answers(read_model(model), run.out);
    }
  }
}

TEST(Export, NamesOfAllKindsSurviveC) {
  const Scratch scratch;
  Model model;
  model.head = initial_head<float>(HeadKind::kCosine, 3, 2, 1, 0);
  model.class_names = {"say \"hi\\\"\n1",
                       "Bülbül 鳥 ?"
                       "?/",
                       "%s\t{}"};
  write_model(model, scratch / "m.safetensors");
  const Outcome outcome = run_annulus(
      scratch, {"export", scratch / "m.safetensors", "-q", "--c", scratch / "model.h", "--card", scratch / "R.md"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::ofstream(scratch / "main.c") << "#include <stdio.h>\n#include \"model.h\"\nint main(void) {\n  int c;\n"
                                       "  for (c = -1; c < 4; ++c) puts(annulus_class_name(c) ? annulus_class_name(c) "
                                       ": \"none\");\n  return annulus_predict == NULL || annulus_unknown_score == "
                                       "NULL;\n}\n";
  const Outcome run =
      Child(scratch, {"bash", "-c",
                      "cd '" + scratch.folder().string() +
                          "' && gcc -std=c99 -Wall -Wextra -Wno-address -pedantic -Werror -trigraphs main.c "
                          "-o program -lm && ./program"})
          .wait();
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out,
            "none\n" + model.class_names[0] + "\n" + model.class_names[1] + "\n" + model.class_names[2] + "\nnone\n");
}

TEST(Export, WritesACardAndAModelWithoutRows) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  const std::string stripped = scratch / "stripped.safetensors";
  const Outcome outcome =
      run_annulus(scratch, {"export", model, "--card", scratch / "README.md", "--stripped", stripped, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["stripped"], stripped);
  EXPECT_FALSE(json.contains("onnx"));
  const std::string card = read_text(scratch / "README.md");
  EXPECT_TRUE(card.starts_with("---\n")) << card;
  EXPECT_NE(card.find("| class-000 | 6 |"), std::string::npos) << card;
  const Model before = read_model(model);
  const Model after = read_model(stripped);
  EXPECT_FALSE(before.support.empty());
  EXPECT_TRUE(after.support.empty());
  EXPECT_EQ(after.class_names, before.class_names);
  EXPECT_EQ(after.training, before.training);
  EXPECT_EQ(after.epsilon, before.epsilon);
  const float* numbers = before.head.direction.data();
  EXPECT_TRUE(std::equal(numbers, numbers + 6 * 16, after.head.direction.data()));
  EXPECT_LT(std::filesystem::file_size(stripped), std::filesystem::file_size(model));
}

TEST(Export, RejectsWhatMakesNoSense) {
  const Scratch scratch;
  const std::string model = fit_model(scratch, write_small_features(scratch));
  const auto before = files_in(scratch);
  expect_complaint(run_annulus(scratch, {"export", model}), 2, "at least one of --onnx");
  expect_complaint(run_annulus(scratch, {"export", model, "--c", scratch / "a", "--card", scratch / "./a"}), 2,
                   "twice");
  expect_complaint(run_annulus(scratch, {"export", model, "--c", scratch / "a.h", "--head-only"}), 2,
                   "--head-only concerns --onnx");
  expect_complaint(run_annulus(scratch, {"export", model, "--c", scratch / "a.h", "--no-check"}), 2,
                   "concern --onnx and --web");
  expect_complaint(run_annulus(scratch, {"export", model, "--c", scratch / "a.h", "--title", "t"}), 2,
                   "--title concerns --web");
  expect_complaint(run_annulus(scratch, {"export", model, "--web", scratch / "page"}), 3, "a page recognises photos");
  expect_complaint(run_annulus(scratch, {"export", model, "--web", scratch.folder().string()}), 5,
                   "name another folder");
  EXPECT_FALSE(std::filesystem::exists(scratch / "page"));

  expect_complaint(run_annulus(scratch, {"export", model, "--c", scratch / "a.h", "--name", "my-model"}), 2,
                   "my-model");
  expect_complaint(run_annulus(scratch, {"export", scratch / "none.safetensors", "--c", scratch / "a.h"}), 5,
                   "none.safetensors");
  expect_complaint(run_annulus(scratch, {"export", scratch / "features.safetensors", "--c", scratch / "a.h"}), 4,
                   "features.safetensors");
  for (const char* option : {"--c", "--card", "--stripped"}) {
    expect_complaint(run_annulus(scratch, {"export", model, "-q", option, scratch / "no/such/file"}), 5,
                     "no/such/file");
    expect_complaint(run_annulus(scratch, {"export", model, "-q", option, scratch.folder().string()}), 5, "folder");
  }
  expect_complaint(run_annulus(scratch, {"export", model, "-q", "--no-check", "--onnx", scratch / "no/such/file"}), 5,
                   "no/such/file");
  EXPECT_EQ(files_in(scratch), before);
}

}  // namespace
}  // namespace annulus
