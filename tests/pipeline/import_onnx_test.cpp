// Ready ONNX files: the chosen feature is the one that a Backbone pools by itself, or the error says why it cannot be.
#include "annulus/pipeline/import_onnx.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "annulus/base/error.h"
#include "annulus/base/matrix.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/vision/backbone/backbone.h"
#include "tests/fixtures/needs_onnxruntime.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSide = 8;

Matrix<float> rows_of(const Backbone& backbone) {
  Matrix<float> images(3, 3 * kSide * kSide);
  for (std::size_t i = 0; i < images.rows() * images.cols(); ++i) {
    images.data()[i] = static_cast<float>(i * 37 % 101) / 50.0F - 1.0F;
  }
  Matrix<float> rows(images.rows(), backbone.dimension());
  backbone.run(images.view(), kSide, kSide, rows.view());
  return rows;
}

class ImportOnnxTest : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    folder_ = fs::temp_directory_path() / ("annulus_import_onnx_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static fs::path ready(const std::string& name) {
    return fs::path(ANNULUS_TEST_DATA) / "backbones" / (name + ".onnx");
  }
  // Four patch tokens and no class token; with_vector adds an output "image_embeds", their sum.
  fs::path patches_only(bool with_vector) const {
    OnnxModel model;
    model.input("image", {-1, 3, kSide, kSide});
    std::vector<float> kernel(5 * 3 * 4 * 4);
    for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = static_cast<float>(i % 7) - 3.0F;
    const std::vector<std::int64_t> four = {4, 4};
    const std::string map = model.node("Conv", {"image", model.floats("kernel", {5, 3, 4, 4}, kernel)},
                                       {{"kernel_shape", four}, {"strides", four}});
    const std::string flat = model.node("Reshape", {map, model.integers("flat", {0, 5, 4})});
    model.node("Transpose", {flat}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}, "last_hidden_state");
    model.output("last_hidden_state", {-1, 4, 5});
    if (with_vector) {
      model.node("Identity", {model.reduce("ReduceMax", flat, {2}, false)}, {}, "image_embeds");
      model.output("image_embeds", {-1, 5});
    }
    AtomicFile file(folder_ / "patches.onnx");
    model.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
    file.commit();
    return folder_ / "patches.onnx";
  }
  ImportReport import(const fs::path& network, TokenFeature feature) const {
    ImportOptions options;
    options.feature = feature;
    return import_checkpoint(network, options, target());
  }
  std::string error_of(const fs::path& network, const ImportOptions& options) const {
    try {
      import_checkpoint(network, options, target());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_FALSE(fs::exists(target()));
      return error.what();
    }
    return "no error";
  }
  fs::path target() const { return folder_ / "net.onnx"; }

  fs::path folder_;
};

TEST_F(ImportOnnxTest, TokensBecomeTheChosenFeature) {
  const Matrix<float> by_class = rows_of(Backbone(ready("tokens")));
  BackboneOptions pooling;
  pooling.tokens = TokenPooling::kMean;
  const Matrix<float> by_mean = rows_of(Backbone(ready("tokens"), pooling));

  EXPECT_EQ(import(ready("tokens"), TokenFeature::kMean).feature, "mean of patch tokens");
  const Backbone mean(target());
  EXPECT_EQ(mean.output_rule(), "features, mean of patch tokens");
  import(ready("tokens"), TokenFeature::kClass);
  const Matrix<float> class_rows = rows_of(Backbone(target()));
  import(ready("tokens"), TokenFeature::kClassAndMean);
  const Backbone both(target());
  ASSERT_EQ(both.dimension(), 2 * by_class.cols());
  EXPECT_EQ(both.output_rule(), "features, class token and mean of patch tokens");
  const Matrix<float> mean_rows = rows_of(mean);
  const Matrix<float> both_rows = rows_of(both);
  for (std::size_t i = 0; i < by_class.rows(); ++i) {
    for (std::size_t d = 0; d < by_class.cols(); ++d) {
      EXPECT_NEAR(class_rows(i, d), by_class(i, d), 1e-6F);
      EXPECT_NEAR(mean_rows(i, d), by_mean(i, d), 1e-6F);
      EXPECT_NEAR(both_rows(i, d), by_class(i, d), 1e-6F);
      EXPECT_NEAR(both_rows(i, by_class.cols() + d), by_mean(i, d), 1e-6F);
    }
  }
}

TEST_F(ImportOnnxTest, EveryShapeKeepsItsFeatures) {
  for (const char* name : {"vector", "channels_last", "half", "map", "map_channels_last", "tokens"}) {
    const Matrix<float> before = rows_of(Backbone(ready(name)));
    import(ready(name), TokenFeature::kUsual);
    const Matrix<float> after = rows_of(Backbone(target()));
    ASSERT_EQ(after.cols(), before.cols()) << name;
    // ONNX Runtime fuses casts, so sums of halves may be rounded elsewhere.
    const float tolerance = std::string(name) == "half" ? 1e-3F : 1e-5F;
    for (std::size_t i = 0; i < before.rows() * before.cols(); ++i) {
      ASSERT_NEAR(after.data()[i], before.data()[i], tolerance) << name;
    }
  }
}

TEST_F(ImportOnnxTest, TokensBesideAVectorAreFound) {
  const fs::path network = patches_only(true);
  EXPECT_EQ(import(network, TokenFeature::kUsual).layout, "ONNX file, output image_embeds");
  EXPECT_EQ(import(network, TokenFeature::kMean).layout, "ONNX file, output last_hidden_state");
  BackboneOptions pooling;
  pooling.output = "last_hidden_state";
  pooling.tokens = TokenPooling::kMean;
  const Matrix<float> expected = rows_of(Backbone(network, pooling));
  const Matrix<float> found = rows_of(Backbone(target()));
  for (std::size_t i = 0; i < expected.rows() * expected.cols(); ++i) {
    EXPECT_NEAR(found.data()[i], expected.data()[i], 1e-5F);
  }
}

TEST_F(ImportOnnxTest, TheRecipeIsKeptOrGiven) {
  EXPECT_EQ(import(ready("vector"), TokenFeature::kUsual).preprocess, "a recipe");
  ImportOptions options;
  options.preprocess = "clip";
  import_checkpoint(ready("tokens"), options, target());
  EXPECT_EQ(Backbone(target()).preprocessing(), "clip");
  const ImportReport report = import(ready("tokens"), TokenFeature::kUsual);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(Backbone(target()).preprocessing(), "");
}

TEST_F(ImportOnnxTest, ImpossibleFeaturesAreSentences) {
  ImportOptions options;
  options.feature = TokenFeature::kMean;
  EXPECT_NE(error_of(ready("vector"), options).find("needs an output of tokens"), std::string::npos);
  options.feature = TokenFeature::kClass;
  EXPECT_NE(error_of(patches_only(false), options).find("4 tokens, all of them patches"), std::string::npos);
  options.feature = TokenFeature::kUsual;
  options.image_size = 16;
  EXPECT_NE(error_of(ready("vector"), options).find("to be 8"), std::string::npos);
}

}  // namespace
}  // namespace annulus
