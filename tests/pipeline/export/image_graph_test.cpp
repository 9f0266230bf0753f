// Joined networks and mirror images in one ONNX file.
#include "annulus/pipeline/export/image_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "annulus/pipeline/encode.h"
#include "annulus/pipeline/export/export_onnx.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/backbone/onnx_session.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

class ImageGraph : public NeedsOnnxRuntime {
 protected:
  static Encoder open(const std::vector<std::string>& networks, const std::string& preprocess,
                      const std::string& views = "none") {
    EncoderOptions options;
    for (const std::string& name : networks) {
      options.backbone +=
          (options.backbone.empty() ? "" : "+") + std::string(ANNULUS_TEST_DATA) + "/backbones/" + name + ".onnx";
    }
    options.preprocess = preprocess;
    options.views = views_from_text(views);
    return open_encoder(options, {});
  }

  static Model model_for(const Encoder& encoder) {
    Model model;
    model.head = initial_head<float>(HeadKind::kCosine, 4, encoder.dimension(), 7, 0);
    model.class_names = {"a", "b", "c", "d"};
    model.provenance = feature_provenance(encoder);
    return model;
  }

  // The features that the exported file gives for a photo of its own size.
  void expect_features(const Encoder& encoder, double tolerance) const {
    const std::string image = content_of(std::filesystem::path(ANNULUS_TEST_DATA) / "images" / "jpeg_444.jpg");
    const auto bytes = std::as_bytes(std::span(image));
    const Backbone exported(folder_ / "model.onnx");
    const auto expected = encode_image(bytes, "image", encoder);
    const auto found = extract_image(bytes, "image", exported, choose_recipe(exported));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], tolerance);
  }

  const ScratchFolder folder_;
};

TEST_F(ImageGraph, HoldsJoinedNetworks) {
  const Encoder encoder =
      open({"vector", "tokens"}, "imagenet resize=8x8 crop=none + keras-caffe resize=8x8 crop=none");
  const OnnxExportReport report = export_onnx(model_for(encoder), encoder, folder_ / "model.onnx");
  EXPECT_TRUE(report.checked);
  EXPECT_GT(report.images, 0U);
  const OnnxSession session(folder_ / "model.onnx");
  EXPECT_EQ(session.inputs().size(), 1U);
  EXPECT_EQ(session.metadata("annulus.backbone"), "vector.onnx+tokens.onnx");
  EXPECT_EQ(session.metadata("annulus.backbone_sha256"), feature_provenance(encoder).at("backbone_sha256"));
  expect_features(encoder, 1e-5);
}

// The file mirrors what is resized already, the library resizes what it has mirrored: pixels may round differently.
TEST_F(ImageGraph, HoldsMirrorImages) {
  for (const auto& networks : {std::vector<std::string>{"map_channels_last"}, {"any_size", "map"}}) {
    SCOPED_TRACE(networks.front());
    const Encoder encoder = open(networks, "imagenet resize=8x8 crop=none", "flip");
    EXPECT_TRUE(export_onnx(model_for(encoder), encoder, folder_ / "model.onnx").checked);
    expect_features(encoder, 5e-3);
  }
}

TEST_F(ImageGraph, SaysWhatCannotBeInOneFile) {
  const auto refused = [&](const Encoder& encoder, const std::string& words) {
    expect_error(ErrorKind::kInput, words, [&] { export_onnx(model_for(encoder), encoder, folder_ / "model.onnx"); });
    EXPECT_EQ(folder_.files(), 0U);
  };
  refused(open({"vector"}, "unit resize=8x8 crop=none", "3"), "random views (3)");
  refused(open({"fixed_four"}, "unit resize=8x8 crop=none", "flip"), "mirror images");
  refused(open({"fixed_four", "fixed_one"}, "unit resize=8x8 crop=none"), "the other network");
  refused(open({"vector", "any_size"}, "unit resize=8x8 crop=none + unit resize=12x12 crop=none"),
          "same size and crop");
}

}  // namespace
}  // namespace annulus
