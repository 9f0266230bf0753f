// Pools from feature files, and whether two sets may be compared.
#include "annulus/pipeline/pool_set.h"

#include <gtest/gtest.h>

#include "annulus/store/features/feature_file.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

FeatureSet set_of(std::size_t dimension, const std::string& backbone) {
  Matrix<float> rows(2, dimension);
  rows(0, 0) = rows(1, 1) = 1.0F;
  FeatureSetParts parts = parts_of(std::move(rows));
  if (!backbone.empty()) parts.provenance["backbone_sha256"] = backbone;
  parts.source = "set of " + backbone;
  return FeatureSet(std::move(parts));
}

TEST(PoolSet, IsReadWithoutAskingForLabels) {
  const ScratchFolder scratch;
  const auto file = scratch / "pool.safetensors";
  write_features(set_of(3, ""), file);
  EXPECT_EQ(load_pool(file, {}).rows(), 2U);
  expect_error(ErrorKind::kIo, "missing", [&] { load_pool(scratch / "missing.npz", {}); });
}

TEST(PoolSet, FeaturesOfOtherBackbonesAreNotCompared) {
  check_same_features(set_of(3, "a"), set_of(3, "a"));
  check_same_features(set_of(3, "a"), set_of(3, ""));
  expect_error(ErrorKind::kInput, "dimensions", [] { check_same_features(set_of(3, "a"), set_of(4, "a")); });
  expect_error(ErrorKind::kInput, "backbone", [] { check_same_features(set_of(3, "a"), set_of(3, "b")); });
}

}  // namespace
}  // namespace annulus
