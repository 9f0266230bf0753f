// Tensors of residual networks by the names of every program; tests/pipeline/import_backbone_test.cpp runs such files.
#include "annulus/vision/networks/resnet_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace annulus {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void expect_names(NetworkFamily family, const Pairs& pairs) {
  const TensorRename rename = known_resnet_names(family)[1].from_publisher;
  for (const auto& [publisher, other] : pairs) EXPECT_EQ(rename(publisher), other);
}

TEST(ResnetNames, OfTransformers) {
  expect_names(NetworkFamily::kResnet,
               {{"conv1.weight", "embedder.embedder.convolution.weight"},
                {"bn1.running_var", "embedder.embedder.normalization.running_var"},
                {"layer1.0.conv1.weight", "encoder.stages.0.layers.0.layer.0.convolution.weight"},
                {"layer4.12.conv3.weight", "encoder.stages.3.layers.12.layer.2.convolution.weight"},
                {"layer2.1.bn2.bias", "encoder.stages.1.layers.1.layer.1.normalization.bias"},
                {"layer3.0.downsample.0.weight", "encoder.stages.2.layers.0.shortcut.convolution.weight"},
                {"layer3.0.downsample.1.running_mean", "encoder.stages.2.layers.0.shortcut.normalization.running_mean"},
                {"layer", "encoder.stages."}});
}

TEST(ResnetNames, OfTimmsClip) {
  expect_names(NetworkFamily::kClipResnet, {{"conv3.weight", "stem.conv3.conv.weight"},
                                            {"bn2.running_var", "stem.conv2.bn.running_var"},
                                            {"layer1.0.conv1.weight", "stages.0.0.conv1_1x1.conv.weight"},
                                            {"layer4.10.conv2.weight", "stages.3.10.conv2_kxk.conv.weight"},
                                            {"layer2.1.bn3.bias", "stages.1.1.conv3_1x1.bn.bias"},
                                            {"layer3.0.downsample.0.weight", "stages.2.0.shortcut.conv.conv.weight"},
                                            {"layer3.0.downsample.1.weight", "stages.2.0.shortcut.conv.bn.weight"},
                                            {"attnpool.positional_embedding", "head.pos_embed"},
                                            {"attnpool.q_proj.weight", "head.q.weight"},
                                            {"attnpool.c_proj.bias", "head.proj.bias"},
                                            {"layer", "stages."}});
}

TEST(ResnetNames, APublishersNamesStay) {
  for (const NetworkFamily family : {NetworkFamily::kResnet, NetworkFamily::kClipResnet}) {
    EXPECT_EQ(known_resnet_names(family)[0].from_publisher, nullptr);
    EXPECT_STREQ(known_resnet_names(family)[0].program, "");
  }
}

}  // namespace
}  // namespace annulus
