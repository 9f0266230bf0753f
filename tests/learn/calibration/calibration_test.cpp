// Temperatures and rules that are learnt from held-out examples.
#include "annulus/learn/calibration/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "annulus/base/random.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

// Labels drawn with exactly the probabilities softmax(true_logits), of which `logits` are `factor` times too large.
struct Drawn {
  Matrix<float> logits;
  std::vector<std::int32_t> labels;
};

Drawn draw_labels(std::size_t rows, double factor) {
  constexpr std::size_t kClasses = 4;
  const RandomStream stream{11, RandomUse::kSynthetic, 0};
  Drawn drawn{Matrix<float>(rows, kClasses), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> weights;
    double sum = 0.0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      const double logit = 6.0 * stream.uniform(i * 8 + c);
      drawn.logits(i, c) = static_cast<float>(factor * logit);
      weights.push_back(std::exp(logit));
      sum += weights.back();
    }
    double place = sum * stream.uniform(i * 8 + 7);
    std::size_t label = 0;
    while (label + 1 < kClasses && place >= weights[label]) place -= weights[label++];
    drawn.labels.push_back(static_cast<std::int32_t>(label));
  }
  return drawn;
}

double temperature_for(const Drawn& drawn, int threads) {
  return best_temperature(std::vector<TemperatureSample>{{drawn.logits.view(), drawn.labels}}, threads);
}

TEST(Calibration, TheTemperatureUndoesLogitsThatAreTooLargeOrTooSmall) {
  for (const double factor : {0.4, 1.0, 3.0}) {
    const Drawn drawn = draw_labels(4000, factor);
    EXPECT_NEAR(temperature_for(drawn, 1) / factor, 1.0, 0.06) << factor;
    EXPECT_EQ(temperature_for(drawn, 1), temperature_for(drawn, 3));
  }
}

TEST(Calibration, AFewExamplesGiveNoExtremeTemperature) {
  Drawn drawn = draw_labels(4, 1.0);
  drawn.labels.clear();
  for (std::size_t i = 0; i < 4; ++i) {
    const auto row = drawn.logits.row(i);
    drawn.labels.push_back(static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  EXPECT_GT(temperature_for(drawn, 0), 0.3);  // the coldest would fit four right answers best
  EXPECT_EQ(best_temperature({}), 1.0);
}

// Two samples are one whose rows count differently.
TEST(Calibration, SamplesCountByTheirFactors) {
  const Drawn cold = draw_labels(400, 0.4);
  const Drawn hot = draw_labels(400, 3.0);
  const auto mixed = [&](double fraction) {
    return best_temperature(std::vector<TemperatureSample>{{cold.logits.view(), cold.labels, {}, 1.0 - fraction},
                                                           {hot.logits.view(), hot.labels, {}, fraction}});
  };
  EXPECT_DOUBLE_EQ(mixed(0.0), temperature_for(cold, 0));
  EXPECT_DOUBLE_EQ(mixed(1.0), temperature_for(hot, 0));
  EXPECT_GT(mixed(0.7), mixed(0.3));
}

TEST(Calibration, LogitsGrowWithTheShots) {
  EXPECT_DOUBLE_EQ(logit_growth(0.25, 4.0, 4.0), 1.0);
  EXPECT_DOUBLE_EQ(logit_growth(1.0, 2.0, 5.0), 1.0);  // all rows alike: one is enough
  EXPECT_NEAR(logit_growth(0.5, 1.0, 2.0), (1.0 / 1.5) / 0.5, 1e-12);
}

Recipe quick() {
  Recipe recipe = recipe_named("default");
  set_virtual_count(recipe, 4);
  set_epochs(recipe, 20);
  recipe.epsilon = 1.0;
  set_threads(recipe, 1);
  return recipe;
}

struct Task {
  LabelledExamples rows;
  Matrix<float> queries;
};

Task make_task(std::size_t shots) {
  SyntheticOptions options;
  options.classes = 12;
  options.train_rows = shots;
  options.test_rows = 40;
  options.dimension = 24;
  options.noise = 0.4;
  const FeatureSet set = make_synthetic(options);
  const Split split = draw_split(set, {});
  return {gather(set, split.support), gather(set, split.query).features};
}

TEST(Calibration, TheFalseRejectionRateIsAboutTheRequestedOne) {
  const Task task = make_task(8);
  const Recipe recipe = quick();
  FitResult fit = fit_head(task.rows, recipe);
  Model model;
  model.support = keep_support(task.rows, {});
  Calibration calibration = calibrate(model.support, fit, recipe);
  EXPECT_EQ(calibration.labels.size(), 96U);
  ASSERT_EQ(calibration.probabilities.rows(), 96U);
  EXPECT_NE(calibration.temperature, 1.0);
  ASSERT_FALSE(calibration.unknown.empty());
  model.head = std::move(fit.head);
  model.temperature = calibration.temperature;
  model.unknown = calibration.unknown;
  std::vector<float> scores(task.queries.rows());
  unknown_scores(model, task.queries.view(), scores, 1);
  for (const double fraction : {0.1, 0.3}) {
    const auto rejected = static_cast<double>(std::count_if(
        scores.begin(), scores.end(), [&](float score) { return score < unknown_threshold(model.unknown, fraction); }));
    EXPECT_NEAR(rejected / static_cast<double>(scores.size()), fraction, 0.08) << fraction;
  }
  // Rows that point anywhere are rejected far more often.
  Matrix<float> unknown_inputs(200, 24);
  const RandomStream stream{5, RandomUse::kSynthetic, 1};
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < 24; ++j) unknown_inputs(i, j) = static_cast<float>(stream.uniform(i * 24 + j) - 0.5);
  }
  std::vector<float> unknown(200);
  unknown_scores(model, unknown_inputs.view(), unknown, 1);
  EXPECT_GT(std::count_if(unknown.begin(), unknown.end(),
                          [&](float score) { return score < unknown_threshold(model.unknown, 0.05); }),
            100);
}

// Fits to half of the classes of each of some sets, and asks about the other half.
TEST(Calibration, TheCatchRateIsAboutThatOfClassesThatItNeverSaw) {
  double estimated = 0.0;
  double measured = 0.0;
  constexpr std::uint64_t kSets = 4;
  for (std::uint64_t seed = 0; seed < kSets; ++seed) {
    const FeatureSet set =
        make_synthetic({.classes = 24, .train_rows = 8, .test_rows = 20, .dimension = 24, .noise = 0.6, .seed = seed});
    const Split split = draw_split(set, {});
    std::vector<std::uint32_t> learnt;
    std::vector<std::uint32_t> asked;
    for (const std::uint32_t row : split.support) {
      if (set.labels()[row] < 12) learnt.push_back(row);
    }
    for (const std::uint32_t row : split.query) {
      if (set.labels()[row] >= 12) asked.push_back(row);
    }
    LabelledExamples rows = gather(set, learnt);
    rows.classes = 12;
    const Recipe recipe = quick();
    FitResult fit = fit_head(rows, recipe);
    Model model;
    model.support = keep_support(rows, {});
    const Calibration calibration = calibrate(model.support, fit, recipe);
    ASSERT_EQ(calibration.unknown.caught.size(), kUnknownQuantiles);
    EXPECT_TRUE(std::is_sorted(calibration.unknown.caught.begin(), calibration.unknown.caught.end()));
    model.head = std::move(fit.head);
    model.temperature = calibration.temperature;
    model.unknown = calibration.unknown;
    std::vector<float> scores(asked.size());
    unknown_scores(model, gather(set, asked).features.view(), scores, 1);
    const float threshold = unknown_threshold(model.unknown, 0.1);
    const auto caught = std::count_if(scores.begin(), scores.end(), [&](float score) { return score < threshold; });
    measured += static_cast<double>(caught) / static_cast<double>(scores.size() * kSets);
    estimated += *unknown_catch_rate(model.unknown, 0.1) / static_cast<double>(kSets);
  }
  EXPECT_GT(measured, 0.2);
  EXPECT_LT(measured, 0.9);
  EXPECT_NEAR(estimated, measured, 0.1);
}

TEST(Calibration, IsTheSameWhateverTheThreads) {
  const Task task = make_task(3);
  const SupportSet support = keep_support(task.rows, {});
  Recipe recipe = quick();
  const FitResult fit = fit_head(task.rows, recipe);
  const Calibration one = calibrate(support, fit, recipe);
  set_threads(recipe, 3);
  const Calibration many = calibrate(support, fit, recipe);
  EXPECT_EQ(one.temperature, many.temperature);
  EXPECT_EQ(one.unknown.weights, many.unknown.weights);
  EXPECT_EQ(one.unknown.quantiles, many.unknown.quantiles);
  EXPECT_EQ(one.unknown.caught, many.unknown.caught);
}

// With one example per class unknown inputs alone can be had: no more of the known are rejected than of them.
TEST(Calibration, WithOneShotTheFalseRejectionRateIsABound) {
  const Task task = make_task(1);
  const Recipe recipe = quick();
  FitResult fit = fit_head(task.rows, recipe);
  Model model;
  model.support = keep_support(task.rows, {});
  const Calibration calibration = calibrate(model.support, fit, recipe);
  EXPECT_TRUE(calibration.labels.empty());
  // The temperature is the same without the rule, whose trainings come on top.
  EXPECT_EQ(calibrate(model.support, fit, recipe, {}, {}, false).temperature, calibration.temperature);
  model.head = std::move(fit.head);
  model.temperature = calibration.temperature;
  model.unknown = calibration.unknown;
  ASSERT_FALSE(model.unknown.empty());
  const auto rejected = [&](const Matrix<float>& rows, double fraction) {
    std::vector<float> scores(rows.rows());
    unknown_scores(model, rows.view(), scores, 1);
    const auto count = std::count_if(scores.begin(), scores.end(),
                                     [&](float score) { return score < unknown_threshold(model.unknown, fraction); });
    return static_cast<double>(count) / static_cast<double>(scores.size());
  };
  for (const double fraction : {0.1, 0.3, 0.6})
    EXPECT_LT(rejected(task.queries, fraction), fraction + 0.05) << fraction;
  Matrix<float> opposite(task.queries.rows(), 24);
  for (std::size_t i = 0; i < opposite.rows(); ++i) {
    for (std::size_t j = 0; j < 24; ++j) opposite(i, j) = -task.queries(i, j);
  }
  EXPECT_GT(rejected(opposite, 0.3), 2 * rejected(task.queries, 0.3));
}

// Heads that were taught to be sure have larger logits than their synthetic examples deserve, and heads that were
// taught to doubt have smaller ones: the temperature makes up for both.
TEST(Calibration, OneRowAClassHasATemperatureOfItsOwn) {
  const Task task = make_task(1);
  const SupportSet support = keep_support(task.rows, {});
  const auto temperature_at = [&](double label_smoothing) {
    Recipe recipe = quick();
    set_label_smoothing(recipe, label_smoothing);
    return calibrate(support, fit_head(task.rows, recipe), recipe).temperature;
  };
  const double sure = temperature_at(0.001);
  const double plain = temperature_at(0.1);
  const double doubtful = temperature_at(0.6);
  EXPECT_NE(plain, 1.0);
  EXPECT_GT(sure, 1.05 * plain);
  EXPECT_LT(doubtful, plain / 1.05);
}

TEST(Calibration, TwoClassesOfOneExampleGiveNoRule) {
  LabelledExamples two{Matrix<float>(2, 3), {0, 1}, 2};
  two.features(0, 0) = 1.0F;
  two.features(1, 1) = 1.0F;
  const Recipe recipe = quick();
  const FitResult fit = fit_head(two, recipe);
  const Calibration calibration = calibrate(keep_support(two, {}), fit, recipe);
  EXPECT_TRUE(calibration.unknown.empty());
  EXPECT_EQ(calibration.temperature, 1.0);
}

TEST(Calibration, ClassesOfOneExampleAreNeverHeldOut) {
  Task task = make_task(2);
  // Class 0 loses its second row.
  LabelledExamples uneven{Matrix<float>(23, 24), {}, 12};
  for (std::size_t i = 0, place = 0; i < 24; ++i) {
    if (i == 1) continue;
    std::copy(task.rows.features.row(i).begin(), task.rows.features.row(i).end(), uneven.features.row(place++).begin());
    uneven.labels.push_back(task.rows.labels[i]);
  }
  const Recipe recipe = quick();
  const Calibration calibration = calibrate(keep_support(uneven, {}), fit_head(uneven, recipe), recipe);
  // One example of every other class: the metric of a fold comes from the other half of the classes.
  EXPECT_EQ(calibration.labels.size(), 11U);
  for (std::int32_t c = 0; c < 12; ++c) {
    EXPECT_EQ(std::count(calibration.labels.begin(), calibration.labels.end(), c), c == 0 ? 0 : 1) << c;
  }
}

}  // namespace
}  // namespace annulus
