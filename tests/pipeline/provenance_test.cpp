// Records of features: what is chosen, and the sentence for those that do not fit together.
#include "annulus/pipeline/provenance.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"

namespace annulus {
namespace {

constexpr const char* kRecipe = "unit resize=8x8 crop=none";

std::filesystem::path model(const std::string& name) {
  return std::filesystem::path(ANNULUS_TEST_DATA) / "backbones" / (name + ".onnx");
}

TEST(Provenance, OnlyWhatBothRecordsSayIsCompared) {
  const Provenance birds{{"backbone", "tiny"}, {"backbone_sha256", "0123456789abcdef"}, {"preprocessing", "unit"}};
  Provenance other = birds;
  EXPECT_NO_THROW(check_same_provenance(birds, "birds.model", other, "owls.npz"));
  EXPECT_NO_THROW(check_same_provenance(birds, "birds.model", {}, "owls.npz"));
  EXPECT_NO_THROW(check_same_provenance({}, "birds.model", birds, "owls.npz"));
  other["backbone_output"] = "last_hidden_state";
  EXPECT_NO_THROW(check_same_provenance(birds, "birds.model", other, "owls.npz"));
  other["preprocessing"] = "signed";
  expect_error(ErrorKind::kInput,
               "birds.model was made with the preprocessing \"unit\", and owls.npz with \"signed\": use the same",
               [&] { check_same_provenance(birds, "birds.model", other, "owls.npz"); });
  other["backbone"] = "huge";
  other["backbone_sha256"] = "fedcba9876543210";
  expect_error(ErrorKind::kInput,
               "birds.model was made with the backbone tiny (sha256 0123456789ab), and owls.npz with huge (sha256 "
               "fedcba987654)",
               [&] { check_same_provenance(birds, "birds.model", other, "owls.npz"); });
}

class ProvenanceTest : public NeedsOnnxRuntime {};

TEST_F(ProvenanceTest, RecordsThatDifferAreRejectedInOneSentence) {
  const Backbone backbone(model("vector"));
  const PreprocessRecipe recipe = recipe_from_text(kRecipe);
  const auto record = feature_provenance(backbone, recipe, "tiny");
  const auto message = [&](const Backbone& other, const PreprocessRecipe& other_recipe) -> std::string {
    try {
      check_provenance(record, "birds.model", other, other_recipe);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(backbone, recipe), "accepted");
  EXPECT_EQ(message(backbone, recipe_from_text(std::string(kRecipe) + " layout=nhwc")), "accepted");
  EXPECT_NE(message(Backbone(model("map")), recipe).find("birds.model was made with the backbone tiny"),
            std::string::npos);
  EXPECT_NE(message(backbone, recipe_from_text("signed resize=8x8 crop=none"))
                .find("birds.model was made with the preprocessing"),
            std::string::npos);
  EXPECT_FALSE(check_provenance({}, "features.npz", backbone, recipe));
  // "vector" names a recipe that does not exist; "any_size" names none; a size that does not fit is told.
  EXPECT_THROW(choose_recipe(backbone), Error);
  EXPECT_THROW(choose_recipe(Backbone(model("any_size"))), Error);
  EXPECT_THROW(choose_recipe(backbone, "imagenet"), Error);
  EXPECT_EQ(choose_recipe(backbone, kRecipe), recipe);
}

}  // namespace
}  // namespace annulus
