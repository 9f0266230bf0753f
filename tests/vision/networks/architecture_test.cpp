// Names and spelled-out forms of networks.
#include "annulus/vision/networks/architecture.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"

namespace annulus {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_architecture(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(Architecture, KnowsTheNamesOfThePaper) {
  const Architecture small = parse_architecture("vit-s/16");
  EXPECT_EQ(small.width, 384);
  EXPECT_EQ(small.heads, 6);
  EXPECT_EQ(parse_architecture("moco-vit-s/16").heads, 12);
  const Architecture large = parse_architecture("vit-l/7");
  EXPECT_EQ(large.depth, 24);
  EXPECT_EQ(large.heads, 16);
  EXPECT_EQ(large.patch, 7);
  EXPECT_TRUE(parse_architecture("resnet50").bottleneck);
  EXPECT_EQ(parse_architecture("resnet18").channels[3], 512);
  EXPECT_EQ(parse_architecture("wrn-28-10").channels[3], 640);
  EXPECT_EQ(parse_architecture("resnet12").image_size, 80);
}

TEST(Architecture, ReadsSpelledOutForms) {
  const Architecture net = parse_architecture("vit:width=32,depth=2,heads=4,patch=8,image=64");
  EXPECT_EQ(net.width, 32);
  EXPECT_EQ(net.depth, 2);
  EXPECT_EQ(net.heads, 4);
  EXPECT_EQ(net.patch, 8);
  EXPECT_EQ(net.image_size, 64);
  EXPECT_EQ(parse_architecture("resnet:block=basic,blocks=1-2-3-4,width=8").blocks, (std::array<int, 4>{1, 2, 3, 4}));
}

TEST(Architecture, KnowsRecentNetworks) {
  EXPECT_EQ(parse_architecture("clip-vit-b/32").activation, Activation::kQuick);
  EXPECT_EQ(parse_architecture("openclip-vit-b/32").activation, Activation::kErf);
  EXPECT_EQ(parse_architecture("siglip-b/16").activation, Activation::kTanh);
  EXPECT_TRUE(parse_architecture("dinov3-vit-b/16").is_transformer());
  EXPECT_FALSE(parse_architecture("clip-rn50").is_transformer());
  EXPECT_EQ(parse_architecture("clip-rn50").heads, 32);
  EXPECT_EQ(parse_architecture("convnext-base").channels, (std::array<int, 4>{128, 256, 512, 1024}));
  EXPECT_EQ(parse_architecture("mobilenetv4-small").image_size, 224);
}

TEST(Architecture, FeaturesHaveWords) {
  for (const auto feature :
       {TokenFeature::kUsual, TokenFeature::kClass, TokenFeature::kMean, TokenFeature::kClassAndMean}) {
    EXPECT_EQ(parse_token_feature(token_feature_word(feature)), feature);
  }
  try {
    parse_token_feature("max");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.field(), "feature");
  }
}

TEST(Architecture, RejectsWhatItDoesNotKnow) {
  EXPECT_NE(error_of("vit-xl/16").find("vit-s/16"), std::string::npos);
  EXPECT_NE(error_of("vit:width=33,heads=2").find("split into 2 heads"), std::string::npos);
  EXPECT_NE(error_of("vit:width=0").find("found \"0\""), std::string::npos);
  EXPECT_NE(error_of("vit:width").find("name=value"), std::string::npos);
  EXPECT_NE(error_of("vit:wide=3").find("unknown setting \"wide\""), std::string::npos);
  EXPECT_NE(error_of("resnet:blocks=1-2").find("four numbers"), std::string::npos);
  EXPECT_NE(error_of("wrn:depth=11").find("6 n + 4"), std::string::npos);
  EXPECT_NE(error_of("clip:activation=relu").find("quick or erf"), std::string::npos);
  EXPECT_NE(error_of("dinov3:width=6,heads=1").find("4 n dimensions"), std::string::npos);
  EXPECT_NE(error_of("clip-resnet:width=1,heads=5").find("split into 5 heads"), std::string::npos);
  EXPECT_NE(error_of("").find("expected an architecture"), std::string::npos);
}

}  // namespace
}  // namespace annulus
