// Metrics of backbones: what is learnt from several sets, and when a fit uses it.
#include "annulus/learn/transform/metric_prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/base/random.h"
#include "annulus/learn/method/metric_space.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/fit_model.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

constexpr std::size_t kDimension = 24;

struct Shape {
  std::size_t classes = 12;
  std::size_t examples = 8;  // of each class
  std::size_t noisy = 0;     // the direction in which examples of a class differ most
  float offset = 0.0F;       // of every number
};

// Classes that differ in all directions, with examples that differ mostly along one.
LabelledExamples drawn(const Shape& shape, std::uint32_t stream) {
  const RandomStream random{7, RandomUse::kSynthetic, stream};
  LabelledExamples rows;
  rows.classes = shape.classes;
  rows.features = Matrix<float>(shape.classes * shape.examples, kDimension);
  std::uint64_t next = 0;
  const auto number = [&] { return static_cast<float>(random.uniform(next++) - 0.5); };
  for (std::size_t c = 0; c < shape.classes; ++c) {
    std::vector<float> mean;
    for (std::size_t j = 0; j < kDimension; ++j) mean.push_back(number());
    for (std::size_t i = 0; i < shape.examples; ++i) {
      const auto row = rows.features.row(c * shape.examples + i);
      for (std::size_t j = 0; j < kDimension; ++j) {
        row[j] = shape.offset + mean[j] + (j == shape.noisy ? 4.0F : 0.1F) * number();
      }
      rows.labels.push_back(static_cast<std::int32_t>(c));
    }
  }
  return rows;
}

MetricPrior prior_of(const Shape& shape, std::uint32_t stream) {
  std::vector<LabelledExamples> sets;
  sets.push_back(drawn(shape, stream));
  return learn_metric_prior(sets, kPriorShrinkage, 1);
}

TEST(MetricPrior, FindsTheDirectionInWhichClassesVary) {
  const MetricPrior prior = prior_of({12, 8, 5, 0.0F}, 1);
  EXPECT_EQ(prior.power, 1.0F);
  ASSERT_GE(prior.metric.rank(), 1U);
  EXPECT_GT(std::fabs(prior.metric.axes_view(kDimension)(0, 5)), 0.9F);
  EXPECT_GT(prior.metric.shrink[0], 0.5F);
  for (const float shrink : prior.metric.shrink) {
    EXPECT_GE(shrink, 0.0F);
    EXPECT_LT(shrink, 1.0F);
  }
}

TEST(MetricPrior, EverySetCountsTheSame) {
  std::vector<LabelledExamples> sets;
  sets.push_back(drawn({40, 8, 2, 0.0F}, 1));
  sets.push_back(drawn({4, 4, 3, 0.0F}, 2));
  const MetricPrior prior = learn_metric_prior(sets, kPriorShrinkage, 1);
  const auto axes = prior.metric.axes_view(kDimension);
  // What is left of a direction: the two that vary are damped nearly alike, though one set is twenty times as large.
  std::vector<float> left(kDimension, 1.0F);
  for (std::size_t j = 0; j < kDimension; ++j) {
    for (std::size_t k = 0; k < prior.metric.rank(); ++k) left[j] -= prior.metric.shrink[k] * axes(k, j) * axes(k, j);
  }
  EXPECT_NEAR(left[2], left[3], 0.15F);
  EXPECT_LT(left[2], 0.6F * left[10]);
}

TEST(MetricPrior, TakesThePowerOfNonNegativeFeatures) {
  EXPECT_LT(prior_of({12, 8, 5, 3.0F}, 1).power, 1.0F);
  std::vector<LabelledExamples> sets;
  sets.push_back(drawn({12, 8, 5, 3.0F}, 1));
  sets.push_back(drawn({12, 8, 5, 0.0F}, 2));
  EXPECT_EQ(learn_metric_prior(sets, kPriorShrinkage, 1).power, 1.0F);
}

TEST(MetricPrior, DoesNotDependOnThreads) {
  std::vector<LabelledExamples> sets;
  sets.push_back(drawn({12, 8, 5, 0.0F}, 1));
  EXPECT_EQ(learn_metric_prior(sets, kPriorShrinkage, 1).metric, learn_metric_prior(sets, kPriorShrinkage, 3).metric);
}

TEST(MetricPrior, NeedsClassesWhoseExamplesDiffer) {
  std::vector<LabelledExamples> sets;
  expect_error(ErrorKind::kInput, "expected a set", [&] { learn_metric_prior(sets, kPriorShrinkage, 1); });
  sets.push_back(drawn({12, 1, 5, 0.0F}, 1));
  expect_error(ErrorKind::kInput, "two or more examples that differ",
               [&] { learn_metric_prior(sets, kPriorShrinkage, 1); });
  sets.push_back({Matrix<float>(2, kDimension + 1), {0, 0}, 1});
  expect_error(ErrorKind::kInput, "found 24 and 25", [&] { learn_metric_prior(sets, kPriorShrinkage, 1); });
}

// A prior that is wrong for a task that varies along direction 5: it damps all others.
MetricPrior wrong_prior() {
  MetricPrior prior;
  for (std::size_t j = 0; j < kDimension; ++j) {
    if (j == 5) continue;
    prior.metric.shrink.push_back(0.97F);
    for (std::size_t i = 0; i < kDimension; ++i) prior.metric.axes.push_back(i == j ? 1.0F : 0.0F);
  }
  return prior;
}

MetricSpace space_with(MetricPrior prior, std::size_t examples, float power = 1.0F) {
  LabelledExamples rows = drawn({12, examples, 5, 0.0F}, 3);
  MetricOptions options;
  options.within_classes = true;
  prior.power = power;
  options.prior = std::make_shared<const MetricPrior>(std::move(prior));
  return enter_metric_space(rows, {}, options, 1);
}

TEST(MetricPrior, OneShotUsesItAndMoreShotsJudgeIt) {
  EXPECT_TRUE(space_with(prior_of({12, 8, 5, 0.0F}, 1), 1).prior);
  EXPECT_EQ(space_with(prior_of({12, 8, 5, 0.0F}, 1), 1).transform.metrics.size(), 1U);
  EXPECT_TRUE(space_with(wrong_prior(), 1).prior);  // nothing can tell
  EXPECT_TRUE(space_with(prior_of({12, 8, 5, 0.0F}, 1), 2).prior);
  EXPECT_EQ(space_with(prior_of({12, 8, 5, 0.0F}, 1), 2).transform.metrics.size(), 2U);
  EXPECT_FALSE(space_with(wrong_prior(), 4).prior);
  EXPECT_EQ(space_with(wrong_prior(), 4).transform.metrics.size(), 1U);
}

TEST(MetricPrior, IsNotUsedForFeaturesOfAnotherPower) {
  EXPECT_FALSE(space_with(prior_of({12, 8, 5, 0.0F}, 1), 1, 0.6F).prior);
  EXPECT_FALSE(space_with(prior_of({12, 8, 5, 0.0F}, 1), 1, 0.6F).any());
}

TEST(MetricPrior, OfAnotherDimensionIsRejected) {
  LabelledExamples rows{Matrix<float>(2, kDimension + 1), {0, 1}, 2};
  MetricOptions options;
  options.prior = std::make_shared<const MetricPrior>(prior_of({12, 8, 5, 0.0F}, 1));
  expect_error(ErrorKind::kInput, "expected a metric of 25 dimensions as the features have, found 24",
               [&] { enter_metric_space(rows, {}, options, 1); });
}

TEST(MetricPrior, AModelRecordsTheOneItWasTrainedWith) {
  Recipe recipe = recipe_named("default");
  set_epochs(recipe, 2);
  recipe.epsilon = 0.5;
  MetricPrior prior = prior_of({12, 8, 5, 0.0F}, 1);
  prior.checksum = "c0ffee";
  recipe.metric.prior = std::make_shared<const MetricPrior>(std::move(prior));
  EXPECT_EQ(describe(recipe).at("metric_prior"), "c0ffee");
  const auto fitted = [&](std::size_t examples) {
    TrainingData data;
    data.rows = drawn({12, examples, 5, 0.0F}, 3);
    for (int c = 0; c < 12; ++c) data.class_names.push_back(std::to_string(c));
    return fit_model(std::move(data), recipe, {});
  };
  // Also with calibration, whose folds are trained by the same recipe.
  EXPECT_EQ(fitted(1).model.provenance.at("metric_prior"), "c0ffee");
  EXPECT_EQ(fitted(3).model.provenance.at("metric_prior"), "c0ffee");
  recipe.metric.prior = std::make_shared<const MetricPrior>(wrong_prior());
  EXPECT_FALSE(fitted(4).model.provenance.contains("metric_prior"));
}

}  // namespace
}  // namespace annulus
