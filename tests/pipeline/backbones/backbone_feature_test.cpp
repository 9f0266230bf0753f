// Networks of the catalogue with another feature: their names, their entries, and names that join several.
#include "annulus/pipeline/backbones/backbone_feature.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TEST(BackboneFeature, AnotherFeatureIsAnEntryOfItsOwn) {
  const BackboneEntry& network = *find_backbone("dinov2-vits14");
  const BackboneEntry& mean = *find_backbone("dinov2-vits14:mean");
  EXPECT_EQ(mean.name, "dinov2-vits14:mean");
  EXPECT_EQ(mean.feature, "mean");
  EXPECT_EQ(mean.dimension, network.dimension);
  EXPECT_EQ(mean.address, network.address);
  EXPECT_EQ(mean.sha256, network.sha256);
  EXPECT_EQ(mean.imagenet_accuracy, 0.0) << "published for the class token";
  EXPECT_EQ(mean.advice, "");
  EXPECT_EQ(find_backbone("dinov2-vits14:cls+mean")->dimension, 2 * network.dimension);
  EXPECT_NE(cached_backbone(mean), cached_backbone(network));
  EXPECT_NE(backbone_record_file(mean.name), backbone_record_file(network.name));
}

TEST(BackboneFeature, ItsOwnFeatureIsTheNetworkItself) {
  EXPECT_EQ(find_backbone("dinov2-vits14:cls")->name, "dinov2-vits14");
  EXPECT_EQ(cached_backbone(*find_backbone("dinov2-vits14:cls")), cached_backbone(*find_backbone("dinov2-vits14")));
  for (const char* name : {"dinov2-vits14:max", "dinov2-vits14:", "dinov2-vits14:mean:mean", "nothing:mean", ":mean"}) {
    EXPECT_EQ(find_backbone(name), nullptr) << name;
  }
}

TEST(BackboneFeature, OnlyTransformersHaveAChoice) {
  for (const char* name : {"dinov2-vits14:mean", "clip-vit-b32:cls+mean", "siglip2-b16:mean", "dinov3-vits16:mean",
                           "dinov2-vits14-onnx:mean"}) {
    EXPECT_EQ(import_obstacle(*find_backbone(name)), std::nullopt) << name;
  }
  for (const char* name : {"resnet50:mean", "resnet50:cls", "resnet50-tv:cls", "clip-rn50:mean", "convnext-tiny:mean",
                           "mobilenetv4-small:cls+mean"}) {
    const auto obstacle = import_obstacle(*find_backbone(name));
    ASSERT_TRUE(obstacle) << name;
    EXPECT_NE(obstacle->find("is a choice among the tokens of a transformer"), std::string::npos) << *obstacle;
  }
}

TEST(BackboneFeature, NamesAreMadeAndTakenApart) {
  EXPECT_EQ(network_of("dinov2-vits14:cls+mean"), "dinov2-vits14");
  EXPECT_EQ(network_of("dinov2-vits14"), "dinov2-vits14");
  EXPECT_EQ(feature_of("dinov2-vits14:cls+mean"), "cls+mean");
  EXPECT_EQ(feature_of("dinov2-vits14"), "");
  EXPECT_EQ(with_feature("dinov2-vits14", ""), "dinov2-vits14");
  EXPECT_EQ(with_feature("dinov2-vits14", "mean"), "dinov2-vits14:mean");
  EXPECT_EQ(with_feature("dinov2-vits14:mean", "cls+mean"), "dinov2-vits14:cls+mean");
  EXPECT_EQ(with_feature("dinov2-vits14:mean", "cls"), "dinov2-vits14");
  EXPECT_EQ(with_feature("auto", "mean"), "auto:mean");
  EXPECT_EQ(with_feature("", "mean"), "auto:mean");
  EXPECT_EQ(with_feature("", ""), "");
  EXPECT_EQ(with_feature("dinov2-vits14+clip-vit-b32:mean", "cls+mean"),
            "dinov2-vits14:cls+mean+clip-vit-b32:cls+mean");
  EXPECT_EQ(with_feature("no-such-network", "mean"), "no-such-network") << "who opens it says so";
  expect_error(ErrorKind::kUsage, "expected feature to be cls, mean or cls+mean, found \"max\"",
               [] { with_feature("dinov2-vits14", "max"); });
  expect_error(ErrorKind::kUsage, "annulus import makes one with another",
               [] { with_feature(std::string(ANNULUS_TEST_DATA) + "/backbones/tokens.onnx", "mean"); });
}

TEST(BackboneFeature, ThePlusOfAFeatureJoinsNothing) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(split_joined("a:cls+mean+b"), (Names{"a:cls+mean", "b"}));
  EXPECT_EQ(split_joined("b+a:cls+mean"), (Names{"b", "a:cls+mean"}));
  EXPECT_EQ(split_joined("a:cls+mean+b:cls+mean"), (Names{"a:cls+mean", "b:cls+mean"}));
  EXPECT_EQ(split_joined("a:mean+b:cls"), (Names{"a:mean", "b:cls"}));
  EXPECT_EQ(split_joined("a:mean+mean"), (Names{"a:mean", "mean"}));
  EXPECT_EQ(split_joined("a"), Names{"a"});
  EXPECT_EQ(split_joined("a++b"), (Names{"a", "", "b"}));
}

TEST(BackboneFeature, ASlipIsNamedWithItsFeature) {
  EXPECT_EQ(nearest_backbone("dinov2-vits-14:mean"), "dinov2-vits14:mean");
  EXPECT_EQ(nearest_backbone("dinov2-vits14:mena"), "dinov2-vits14:mean");
  EXPECT_EQ(nearest_backbone("something else:mean"), "");
}

}  // namespace
}  // namespace annulus
