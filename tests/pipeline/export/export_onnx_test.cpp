// ONNX files of models answer as the library does; one that would not is never written.
#include "annulus/pipeline/export/export_onnx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/pipeline/extract.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/vision/backbone/onnx_session.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

class ExportOnnx : public NeedsOnnxRuntime {};

Model model_of(HeadKind kind, std::size_t classes, std::size_t dimension) {
  Model model;
  model.head = initial_head<float>(kind, classes, dimension, 7, 0);
  for (float& gain : model.head.gain) gain *= 3.0F;
  for (std::size_t c = 0; c < classes; ++c) model.class_names.push_back("Bülbül \"" + std::to_string(c) + "\"\n\\");
  model.epsilon = 0.5;
  return model;
}

TEST_F(ExportOnnx, PredictsAsTheLibraryForEveryKindOfHeadAndTransform) {
  const ScratchFolder folder;
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    for (const float power : {1.0F, 0.6F}) {
      for (const bool centred : {false, true}) {
        Model model = model_of(kind, 9, 33);
        model.head.transform.power = power;
        if (centred) model.head.transform.centre.assign(33, 0.05F);
        const OnnxExportReport report = export_onnx(model, folder / "model.onnx");
        EXPECT_TRUE(report.checked);
        EXPECT_GE(report.rows, 50U);
        EXPECT_LE(report.difference, kExportTolerance);
        EXPECT_EQ(report.images, 0U);
      }
    }
  }
  EXPECT_EQ(folder.files(), 1U);
}

// A rule that asks for all parts of a score, about a head of which only one class has rows.
void learn_rejection(Model& model) {
  const std::size_t dimension = model.head.dimension();
  model.temperature = 0.7;
  model.unknown.weights = {0.5F, -0.25F, 0.125F, 2.0F, 1.5F, 0.75F};
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) model.unknown.quantiles.push_back(0.01F * static_cast<float>(i));
  model.support.features = Matrix<float>(7, dimension);
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < dimension; ++j) {
      model.support.features(i, j) = std::sin(static_cast<float>(i * dimension + j));
    }
  }
  model.support.labels.assign(7, 0);
  for (std::size_t i = 0; i < 3 * dimension; ++i) {
    model.unknown.axes.push_back(0.3F * std::cos(static_cast<float>(i * i)));
  }
}

TEST_F(ExportOnnx, ScoresUnknownInputsAsTheLibrary) {
  const ScratchFolder folder;
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    Model model = model_of(kind, 5, 12);
    model.head.transform.centre.assign(12, 0.1F);
    learn_rejection(model);
    EXPECT_LE(export_onnx(model, folder / "model.onnx").difference, kExportTolerance);
    const OnnxSession session(folder / "model.onnx");
    EXPECT_EQ(session.metadata("annulus.temperature"), "0.7");
    EXPECT_TRUE(session.metadata("annulus.unknown_quantiles").starts_with("[0, 0.01, 0.02, "));
    std::vector<float> expected(7);
    unknown_scores(model, std::as_const(model).support.features.view(), expected);
    const float* first = model.support.features.data();
    const std::vector<float> copy(first, first + 7 * 12);
    const std::span<const float> rows(copy);
    const auto found = session.run(rows, std::vector<std::int64_t>{7, 12}, 2).values;
    ASSERT_EQ(found.size(), 7U);
    for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
    // Without its rows such a rule cannot be asked: the largest probability stands in.
    model.support = {};
    export_onnx(model, folder / "model.onnx");
    const OnnxSession stripped(folder / "model.onnx");
    EXPECT_EQ(stripped.metadata("annulus.unknown_quantiles"), "");
    const float score = stripped.run(rows.first(12), std::vector<std::int64_t>{1, 12}, 2).values.front();
    const auto probabilities = stripped.run(rows.first(12), std::vector<std::int64_t>{1, 12}, 1).values;
    EXPECT_EQ(score, *std::max_element(probabilities.begin(), probabilities.end()));
  }
}

// Each part of the support for itself, with axes and without.
TEST_F(ExportOnnx, ScoresByAnyPartOfTheSupport) {
  const ScratchFolder folder;
  for (const UnknownPart part : {kNearestCosine, kNearestCloseness, kClassCloseness}) {
    Model model = model_of(HeadKind::kCosine, 5, 12);
    learn_rejection(model);
    model.unknown.weights = {};
    model.unknown.weights[part] = 1.0F;
    const double with_axes = export_onnx(model, folder / "model.onnx").difference;
    model.unknown.axes.clear();
    EXPECT_LE(std::max(with_axes, export_onnx(model, folder / "model.onnx").difference), kExportTolerance);
  }
}

// Large logits, a low temperature and weights that nearly cancel: sums in float32 would leave few digits of the score.
TEST_F(ExportOnnx, ScoresOfLargeLogitsAgreeToo) {
  const ScratchFolder folder;
  Model model = model_of(HeadKind::kLinear, 100, 256);
  for (std::size_t c = 0; c < 100; ++c) {
    for (float& number : model.head.direction.row(c)) number *= 60.0F;
  }
  learn_rejection(model);
  model.temperature = 0.3;
  model.unknown.weights = {2.75F, 0.0F, -2.6F, 2.4F, 0.0F, 0.0F};
  model.unknown.axes.clear();
  EXPECT_LE(export_onnx(model, folder / "model.onnx").difference, kExportTolerance);
}

TEST_F(ExportOnnx, TakesAnyNumberOfRowsAndNamesTheirClasses) {
  const ScratchFolder folder;
  Model model = model_of(HeadKind::kCosine, 4, 6);
  export_onnx(model, folder / "model.onnx");
  const OnnxSession session(folder / "model.onnx");
  ASSERT_EQ(session.inputs().size(), 1U);
  EXPECT_EQ(session.inputs()[0].name, "X");
  EXPECT_EQ(session.inputs()[0].shape, (std::vector<std::int64_t>{-1, 6}));
  ASSERT_EQ(session.outputs().size(), 3U);
  EXPECT_EQ(session.outputs()[0].name, "label");
  EXPECT_EQ(session.outputs()[1].name, "probabilities");
  EXPECT_EQ(session.outputs()[2].name, "unknown_score");
  // The direction of a class, however long, is most like that class.
  for (const std::size_t rows : {std::size_t{1}, std::size_t{3}}) {
    std::vector<float> values;
    for (std::size_t i = 0; i < rows; ++i) {
      for (const float number : model.head.direction.row(i + 1)) values.push_back(1000.0F * number);
    }
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows), 6};
    const auto labels = session.run_texts(values, shape, 0);
    ASSERT_EQ(labels.size(), rows);
    for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(labels[i], model.class_names[i + 1]);
    EXPECT_EQ(session.run(values, shape, 1).shape, (std::vector<std::int64_t>{shape[0], 4}));
    EXPECT_EQ(session.run(values, shape, 2).shape, (std::vector<std::int64_t>{shape[0]}));
  }
  EXPECT_EQ(parse_string_list(session.metadata("annulus.class_names"), "metadata"), model.class_names);
  EXPECT_EQ(session.metadata("annulus.epsilon"), "0.5");
}

TEST_F(ExportOnnx, ARowAtTheCentreStaysAsItWas) {
  const ScratchFolder folder;
  Model model = model_of(HeadKind::kCosine, 3, 4);
  model.head.transform.centre = {0.5F, 0.5F, 0.5F, 0.5F};
  export_onnx(model, folder / "model.onnx");
  const OnnxSession session(folder / "model.onnx");
  Matrix<float> row(1, 4);
  for (std::size_t j = 0; j < 4; ++j) row(0, j) = 2.0F;
  Matrix<float> expected(1, 3);
  predict_probabilities(model.head, 1.0, std::as_const(row).view(), expected.view(), 1);
  const auto found = session.run(std::as_const(row).row(0), std::vector<std::int64_t>{1, 4}, 1);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found.values[c], expected(0, c), 1e-6);
}

TEST_F(ExportOnnx, WritesNoFileWhosePredictionsDiffer) {
  const ScratchFolder folder;
  // All logits are large and nearly the same: what rounding leaves of their differences is chance.
  Model model = model_of(HeadKind::kLinear, 50, 64);
  for (std::size_t c = 0; c < 50; ++c) {
    for (std::size_t j = 0; j < 64; ++j) model.head.direction(c, j) += 1e6F * static_cast<float>(j % 7 + 1);
  }
  expect_error(ErrorKind::kInternal, "was not written", [&] { export_onnx(model, folder / "model.onnx"); });
  EXPECT_EQ(folder.files(), 0U);
  EXPECT_FALSE(export_onnx(model, folder / "model.onnx", false).checked);
  EXPECT_EQ(folder.files(), 1U);
}

struct Encoder {
  const char* file;
  const char* recipe;
};

TEST_F(ExportOnnx, HoldsEveryKindOfBackbone) {
  const ScratchFolder folder;
  const Encoder encoders[] = {
      {"any_size", "imagenet resize=12x8 crop=none"},
      {"vector", "unit resize=8x8 crop=none"},
      {"fixed_one", "signed resize=8x8 crop=none"},
      {"fixed_four", "clip resize=shorter:9 crop=8x8"},
      {"channels_last", "keras-caffe resize=shorter:8 crop=8x8"},
      {"half", "unit resize=8x8 crop=none"},
      {"map", "imagenet resize=8x8 crop=none"},
      {"map_channels_last", "keras-caffe resize=8x8 crop=none"},
      {"tokens", "imagenet resize=8x8 crop=none"},
  };
  for (const Encoder& encoder : encoders) {
    SCOPED_TRACE(encoder.file);
    const Backbone backbone(std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" /
                            (std::string(encoder.file) + ".onnx"));
    const Model model = model_of(HeadKind::kCosine, 4, backbone.dimension());
    const PreprocessRecipe recipe = recipe_from_text(encoder.recipe);
    const OnnxExportReport report =
        export_onnx(model, ExportedEncoder{backbone, recipe, encoder.file}, folder / "model.onnx");
    EXPECT_GT(report.images, 0U);
    EXPECT_GT(report.rows, 0U);
    EXPECT_LE(report.difference, kExportTolerance);
    const OnnxSession session(folder / "model.onnx");
    EXPECT_EQ(session.inputs()[0].name, "pixel_values");
    EXPECT_EQ(session.inputs()[0].shape[1], 3);
    EXPECT_EQ(session.inputs()[0].shape[2], static_cast<std::int64_t>(recipe.output_height()));
    EXPECT_EQ(session.inputs()[0].shape[3], static_cast<std::int64_t>(recipe.output_width()));
    EXPECT_EQ(session.outputs().size(), 4U);
    EXPECT_EQ(session.metadata("annulus.backbone_sha256"), backbone.sha256());
    EXPECT_EQ(session.metadata("annulus.backbone_preprocess"), to_text(recipe));
  }
  EXPECT_EQ(folder.files(), 1U);
}

TEST_F(ExportOnnx, AnExportedFileIsABackboneOfTheSameFeatures) {
  const ScratchFolder folder;
  const Backbone backbone(std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / "vector.onnx");
  const PreprocessRecipe recipe = recipe_from_text("imagenet resize=8x8 crop=none");
  export_onnx(model_of(HeadKind::kLinear, 3, 5), ExportedEncoder{backbone, recipe, "v"}, folder / "model.onnx");
  const Backbone exported(folder / "model.onnx");
  const std::string image = content_of(std::filesystem::path(ANNULUS_TEST_DATA) / "images" / "jpeg_444.jpg");
  const auto bytes = std::as_bytes(std::span(image));
  const auto expected = extract_image(bytes, "image", backbone, recipe);
  const auto found = extract_image(bytes, "image", exported, choose_recipe(exported));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], 1e-5);
}

TEST_F(ExportOnnx, RejectsABackboneOfAnotherDimension) {
  const ScratchFolder folder;
  const Backbone backbone(std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / "vector.onnx");
  const ExportedEncoder encoder{backbone, recipe_from_text("unit resize=8x8 crop=none"), "v"};
  expect_error(ErrorKind::kInput, "features of 6 dimensions",
               [&] { export_onnx(model_of(HeadKind::kLinear, 3, 6), encoder, folder / "model.onnx"); });
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace annulus
