// The text form of recipes: canonical, complete, and strict about what it reads.
#include "annulus/vision/preprocess/preprocess_recipe.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

std::string rejection(const std::string& text) {
  try {
    recipe_from_text(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(PreprocessRecipe, TextOfThePresets) {
  EXPECT_EQ(to_text(preprocess_preset("imagenet")),
            "resize=shorter:256 interpolation=bicubic crop=224x224 values=mean-std mean=0.485,0.456,0.406 "
            "std=0.229,0.224,0.225 channels=rgb layout=nchw exif=apply");
  EXPECT_EQ(to_text(preprocess_preset("keras-caffe")),
            "resize=shorter:256 interpolation=bicubic crop=224x224 values=subtract mean=123.68,116.779,103.939 "
            "channels=bgr layout=nchw exif=apply");
  EXPECT_EQ(to_text(preprocess_preset("unit")),
            "resize=shorter:256 interpolation=bicubic crop=224x224 values=unit channels=rgb layout=nchw exif=apply");
  EXPECT_EQ(to_text(recipe_from_text("episode-80 values=signed exif=ignore layout=nhwc")),
            "resize=80x80 interpolation=bilinear crop=none values=signed channels=rgb layout=nhwc exif=ignore");
}

TEST(PreprocessRecipe, EveryPresetSurvivesItsText) {
  ASSERT_FALSE(preprocess_preset_names().empty());
  for (const std::string& name : preprocess_preset_names()) {
    const PreprocessRecipe recipe = preprocess_preset(name);
    EXPECT_EQ(recipe_from_text(to_text(recipe)), recipe) << name;
    EXPECT_EQ(recipe_from_text(name), recipe) << name;
    EXPECT_GT(recipe.output_size(), 0U);
  }
}

TEST(PreprocessRecipe, NumbersSurviveToTheLastBit) {
  PreprocessRecipe recipe = preprocess_preset("imagenet");
  recipe.mean = {1.0F / 3.0F, 0.1F, -1e-30F};
  recipe.std = {std::numeric_limits<float>::min(), 16777216.0F, 0.3F};
  EXPECT_EQ(recipe_from_text(to_text(recipe)), recipe);
}

TEST(PreprocessRecipe, TheMarginOfBoxesIsNamedWhereThereIsOne) {
  const PreprocessRecipe recipe = recipe_from_text("unit margin=0.125");
  EXPECT_EQ(recipe.box_margin, 0.125);
  EXPECT_TRUE(to_text(recipe).ends_with(" exif=apply margin=0.125"));
  EXPECT_EQ(recipe_from_text(to_text(recipe)), recipe);
  EXPECT_EQ(to_text(recipe_from_text("unit margin=0")), to_text(recipe_from_text("unit")));
  EXPECT_NE(rejection("unit margin=-1").find("expected a fraction of a box from 0 to 10, found \"-1\""),
            std::string::npos);
  PreprocessRecipe wide = recipe;
  wide.box_margin = std::numeric_limits<double>::infinity();
  EXPECT_THROW(check_recipe(wide), Error);
}

TEST(PreprocessRecipe, ProfilesAreNamedWhereTheyAreApplied) {
  const PreprocessRecipe recipe = recipe_from_text("unit margin=0.5 profile=srgb");
  EXPECT_TRUE(recipe.to_srgb);
  EXPECT_TRUE(to_text(recipe).ends_with(" exif=apply profile=srgb margin=0.5"));
  EXPECT_EQ(recipe_from_text(to_text(recipe)), recipe);
  EXPECT_EQ(to_text(recipe_from_text("unit profile=ignore")), to_text(recipe_from_text("unit")));
  EXPECT_NE(rejection("unit profile=p3").find("expected one of srgb, ignore"), std::string::npos);
}

TEST(PreprocessRecipe, SizesOfTheOutput) {
  const PreprocessRecipe crop = recipe_from_text("imagenet crop=33x64");
  EXPECT_EQ(crop.output_width(), 33U);
  EXPECT_EQ(crop.output_height(), 64U);
  EXPECT_EQ(recipe_from_text("unit resize=19x50 crop=none").output_size(), 3U * 19U * 50U);
}

TEST(PreprocessRecipe, RejectsInWords) {
  EXPECT_NE(rejection("imagnet").find("\"imagnet\" is not known; expected one of imagenet, "), std::string::npos);
  EXPECT_NE(rejection("").find("expected a preset's name first or a value for resize"), std::string::npos);
  EXPECT_NE(rejection("imagenet crop=none").find("without a crop"), std::string::npos);
  EXPECT_NE(rejection("imagenet crop=0").find("1 to 8192 pixels, found \"0\""), std::string::npos);
  EXPECT_NE(rejection("imagenet crop=99999999999999999999").find("1 to 8192 pixels"), std::string::npos);
  EXPECT_NE(rejection("imagenet crop=224x").find("found \"\""), std::string::npos);
  EXPECT_NE(rejection("imagenet layout=chw").find("expected one of nchw, nhwc"), std::string::npos);
  EXPECT_NE(rejection("imagenet mean=1,2").find("three numbers"), std::string::npos);
  EXPECT_NE(rejection("imagenet std=1,0,1").find("std above 0"), std::string::npos);
  EXPECT_NE(rejection("imagenet mean=nan,0,1").find("finite mean"), std::string::npos);
  EXPECT_NE(rejection("imagenet layout=nchw layout=nchw").find("given twice"), std::string::npos);
  EXPECT_NE(rejection("imagenet colour=blue").find("not a field"), std::string::npos);
  EXPECT_NE(rejection("layout=nchw imagenet").find("after the first word"), std::string::npos);
}

}  // namespace
}  // namespace annulus
