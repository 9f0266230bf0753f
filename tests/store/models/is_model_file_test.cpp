// Models told from features and from files that are neither.
#include "annulus/store/models/is_model_file.h"

#include <gtest/gtest.h>

#include "annulus/store/features/feature_file.h"
#include "annulus/store/models/model_file.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

Model tiny_model() {
  Model model;
  model.head.direction = Matrix<float>(2, 3);
  model.head.direction(0, 0) = model.head.direction(1, 1) = 1.0F;
  model.head.gain = {1.0F, 1.0F};
  model.class_names = {"a", "b"};
  return model;
}

TEST(IsModelFile, TellsModelsFromFeatures) {
  const ScratchFolder scratch;
  write_model(tiny_model(), scratch / "model.safetensors");
  EXPECT_TRUE(is_model_file(scratch / "model.safetensors"));
  Matrix<float> rows(1, 2);
  rows(0, 0) = 1.0F;
  write_features(FeatureSet(parts_of(std::move(rows))), scratch / "features.safetensors");
  EXPECT_FALSE(is_model_file(scratch / "features.safetensors"));
  EXPECT_FALSE(is_model_file(scratch / "missing.safetensors"));
  EXPECT_FALSE(is_model_file(scratch.write("model.txt", "annulus-model")));
}

}  // namespace
}  // namespace annulus
