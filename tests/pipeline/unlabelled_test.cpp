// Pools of unlabelled examples: what a recipe gets from them, and what is said of it.
#include "annulus/pipeline/unlabelled.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "annulus/learn/transform/pool_metric.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/task/few_shot_task.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

FeatureSet generated(std::size_t dimension, std::size_t examples) {
  SyntheticOptions options;
  options.classes = 8;
  options.train_rows = examples;
  options.test_rows = 1;
  options.dimension = dimension;
  return make_synthetic(options);
}

TEST(AddPoolMetric, PutsAMetricIntoTheRecipeAndItsRecord) {
  const FeatureSet training = generated(16, 2);
  const FeatureSet pool = generated(16, 12);
  const Split split = draw_split(training, {2, 0});
  Recipe recipe = recipe_named("default");
  Provenance record;
  const PoolUse use = add_pool_metric(pool, training, split.support, 1, recipe, record);
  EXPECT_TRUE(use.taken());
  EXPECT_EQ(use.examples, pool.rows());
  ASSERT_NE(recipe.metric.prior, nullptr);
  EXPECT_EQ(record.at("unlabelled_examples"), std::to_string(pool.rows()));
  EXPECT_NE(pool_text(use, true).find("unlabelled examples used"), std::string::npos);
  EXPECT_NE(pool_text(use, false).find("does not suit"), std::string::npos);
}

TEST(AddPoolMetric, APoolThatIsTooSmallChangesNothing) {
  const FeatureSet training = generated(16, 2);
  const FeatureSet pool = generated(16, 1);
  Matrix<float> rows(kLeastPoolPerClass * training.classes() - 1, pool.dimension());
  ASSERT_LE(rows.rows(), pool.rows());
  pool.copy_rows(0, rows.view());
  Recipe recipe = recipe_named("default");
  Provenance record;
  const PoolUse use = add_pool_metric(std::as_const(rows).view(), training.classes(), 1.0F, 1, recipe, record);
  EXPECT_FALSE(use.taken());
  EXPECT_EQ(recipe.metric.prior, nullptr);
  EXPECT_TRUE(record.empty());
  EXPECT_NE(pool_text(use, false).find("too few, 16 or more"), std::string::npos) << pool_text(use, false);
}

TEST(LoadUnlabelled, RejectsFeaturesOfAnotherDimension) {
  const ScratchFolder folder;
  write_features(generated(8, 2), folder / "pool.safetensors");
  expect_error(ErrorKind::kInput, "expected features of 16 dimensions",
               [&] { load_unlabelled(folder / "pool.safetensors", generated(16, 2), {}); });
}

TEST(LoadUnlabelled, NeedsNoLabels) {
  const ScratchFolder folder;
  Matrix<float> rows(3, 16);
  std::iota(rows.data(), rows.data() + 48, 1.0F);
  write_features(FeatureSet(parts_of(std::move(rows))), folder / "pool.safetensors");
  EXPECT_EQ(load_unlabelled(folder / "pool.safetensors", generated(16, 2), {}).rows(), 3U);
}

TEST(CheckMetricBesidePool, TwoMetricsAreOneTooMany) {
  check_metric_beside_pool({});
  expect_error(ErrorKind::kUsage, "found \"none\"", [] { check_metric_beside_pool("none"); });
}

}  // namespace
}  // namespace annulus
