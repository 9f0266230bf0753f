// The search and the whole pipeline: against recorded distributions, and the options beside the paper's behaviour.
#include "annulus/learn/method/radius_search.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "annulus/base/error.h"
#include "annulus/learn/method/recipe.h"
#include "tests/fixtures/accuracy.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/golden.h"

namespace annulus {
namespace {

struct Sample {
  double mean;
  double variance;  // n - 1
  double count;
};

Sample sample_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (count - 1.0), count};
}

// Welch's t statistic of two samples.
double welch(const std::vector<double>& a, const std::vector<double>& b) {
  const Sample x = sample_of(a);
  const Sample y = sample_of(b);
  return (x.mean - y.mean) / std::sqrt(x.variance / x.count + y.variance / y.count);
}

struct Pipeline {
  LabelledExamples train;
  LabelledExamples test;
};

Pipeline recorded_pipeline(const Golden& golden) {
  const auto gather = [](const std::vector<double>& features, const std::vector<double>& labels) {
    LabelledExamples rows{Matrix<float>(labels.size(), features.size() / labels.size()), {}, 20};
    for (std::size_t i = 0; i < features.size(); ++i) rows.features.data()[i] = static_cast<float>(features[i]);
    for (const double label : labels) rows.labels.push_back(static_cast<std::int32_t>(label));
    return rows;
  };
  return {gather(golden["Xtr"], golden["ytr"]), gather(golden["Xte"], golden["yte"])};
}

// Welch's t-test at the 0.1 % level (two-sided, about 12 degrees of freedom: 4.3) on radius, baseline and IbM2 accuracy
// of ten of our seeds against the six recorded ones.
TEST(Pipeline, HasTheRecordedDistribution) {
  const Golden golden("stat_N20_d64_k5_R50");
  const Pipeline pipeline = recorded_pipeline(golden);
  std::vector<double> radii;
  std::vector<double> baseline;
  std::vector<double> ibm2;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Recipe recipe = recipe_named("paper");
    set_virtual_count(recipe, 50);
    set_seed(recipe, seed);
    const FitResult fit = fit_head(pipeline.train, recipe);
    radii.push_back(fit.epsilon);
    ibm2.push_back(percent_right(fit.head, pipeline.test) / 100.0);
    recipe.virtual_examples = false;
    baseline.push_back(percent_right(fit_head(pipeline.train, recipe).head, pipeline.test) / 100.0);
    ASSERT_TRUE(fit.search.has_value());
    EXPECT_EQ(fit.search->probes.size(), 8U);
  }
  std::printf("radius %.4f recorded %.4f; baseline %.4f recorded %.4f; IbM2 %.4f recorded %.4f\n",
              sample_of(radii).mean, sample_of(golden["eps"]).mean, sample_of(baseline).mean,
              sample_of(golden["naive"]).mean, sample_of(ibm2).mean, sample_of(golden["ibm2"]).mean);
  constexpr double kCritical = 4.3;
  EXPECT_LT(std::abs(welch(radii, golden["eps"])), kCritical);
  EXPECT_LT(std::abs(welch(baseline, golden["naive"])), kCritical);
  EXPECT_LT(std::abs(welch(ibm2, golden["ibm2"])), kCritical);
}

// A generated task whose radius is far from the ends of the paper's range.
TrainingExamples<float> small_task() {
  const Golden golden("stat_N20_d64_k5_R50");
  const Pipeline pipeline = recorded_pipeline(golden);
  return make_training_examples<float>(pipeline.train.features.view(), pipeline.train.labels, 20,
                                       NoiseShape::kEllipsoidal);
}

SearchOptions quick_search() {
  Recipe recipe = recipe_named("paper");
  set_virtual_count(recipe, 20);
  set_noise_sharing(recipe, NoiseSharing::kShared);
  return recipe.search;
}

TEST(RadiusSearch, RecordsEveryProbeAndNarrowsTheRange) {
  const auto rows = small_task();
  const SearchResult result = search_radius(rows, HeadKind::kCosine, quick_search());
  ASSERT_EQ(result.probes.size(), 8U);  // 10 / 2^8 < 0.05
  EXPECT_DOUBLE_EQ(result.probes.front().epsilon, 5.0);
  EXPECT_DOUBLE_EQ(result.target, std::min(0.9, result.upper_accuracy));
  double low = 0.0;
  double high = 10.0;
  for (const Probe& probe : result.probes) {
    EXPECT_DOUBLE_EQ(probe.epsilon, (low + high) / 2.0);
    EXPECT_EQ(probe.passed, probe.accuracy > result.target);
    (probe.passed ? low : high) = probe.epsilon;
    EXPECT_DOUBLE_EQ(probe.low, low);
    EXPECT_DOUBLE_EQ(probe.high, high);
  }
  EXPECT_DOUBLE_EQ(result.epsilon, (low + high) / 2.0);
}

TEST(RadiusSearch, ExpandsARangeThatEndsTooEarly) {
  const auto rows = small_task();
  SearchOptions options = quick_search();
  options.probe.learning_rate = 0.1;  // calm enough that no probe fails for want of training
  options.pretrain.learning_rate = 0.1;
  const double full = search_radius(rows, HeadKind::kCosine, options).epsilon;
  options.highest = full / 3.0;
  const double capped = search_radius(rows, HeadKind::kCosine, options).epsilon;
  EXPECT_NEAR(capped, options.highest, 0.05) << "the paper's search stops at the end of its range";
  options.expand = true;
  const double expanded = search_radius(rows, HeadKind::kCosine, options).epsilon;
  EXPECT_GT(expanded, 2.0 * options.highest);
  EXPECT_NEAR(expanded, full, 0.35 * full);
}

TEST(RadiusSearch, VerifyingTheUpperBoundLiftsAFailureOfAnUntrainedHead) {
  const auto rows = small_task();
  SearchOptions options = quick_search();
  options.probe.epochs = 2;  // the head of the first probe has hardly been trained
  options.probe.learning_rate = 0.02;
  options.highest = 1.0;
  const double stuck = search_radius(rows, HeadKind::kCosine, options).epsilon;
  options.verify_upper = true;
  const SearchResult verified = search_radius(rows, HeadKind::kCosine, options);
  EXPECT_GT(verified.epsilon, stuck);
  EXPECT_GT(verified.probes.size(), 5U);
}

TEST(RadiusSearch, InterpolationFindsTheSameRadiusWithFewerProbes) {
  const auto rows = small_task();
  SearchOptions options = quick_search();
  options.probe.learning_rate = 0.1;
  options.verify_upper = true;
  options.common_noise = true;
  const SearchResult middle = search_radius(rows, HeadKind::kCosine, options);
  options.interpolate = true;
  const SearchResult placed = search_radius(rows, HeadKind::kCosine, options);
  EXPECT_NEAR(placed.epsilon, middle.epsilon, 0.1 * middle.epsilon);
  EXPECT_LT(placed.probes.size(), middle.probes.size());
  EXPECT_GE(placed.epsilon, placed.probes.back().low);
  EXPECT_LE(placed.epsilon, placed.probes.back().high);
}

TEST(RadiusSearch, TrainingOnTheTrainingExamplesMayEndOnceItCannotLowerTheTarget) {
  const auto rows = small_task();
  SearchOptions options = quick_search();
  int full = 0;
  int early = 0;
  const auto count = [](int& calls) {
    return ProgressCallback([&calls](const Progress& progress) {
      calls += progress.stage == "train on the training examples" ? 1 : 0;
      return true;
    });
  };
  const SearchResult whole = search_radius(rows, HeadKind::kCosine, options, count(full));
  options.stop_early = true;
  const SearchResult quick = search_radius(rows, HeadKind::kCosine, options, count(early));
  EXPECT_LT(early, full / 2);
  EXPECT_DOUBLE_EQ(quick.target, whole.target);
  EXPECT_DOUBLE_EQ(quick.epsilon, whole.epsilon);
}

TEST(RadiusSearch, AWarmStartGoesOnFromTheHeadOfTheTrainingExamples) {
  const auto rows = small_task();
  SearchOptions options = quick_search();
  options.probe.epochs = 2;  // too few for a fresh head
  options.probe.learning_rate = 0.02;
  options.highest = 1.0;
  const SearchResult fresh = search_radius(rows, HeadKind::kCosine, options);
  options.warm_start = true;
  const SearchResult warm = search_radius(rows, HeadKind::kCosine, options);
  ASSERT_EQ(warm.probes.front().epsilon, fresh.probes.front().epsilon);
  EXPECT_GT(warm.probes.front().accuracy, fresh.probes.front().accuracy + 0.2);
}

TEST(Recipe, TheFinalTrainingKeepsToTheLimitsOnItsSteps) {
  const Pipeline pipeline = recorded_pipeline(Golden("stat_N20_d64_k5_R50"));
  Recipe recipe = recipe_named("default");
  recipe.epsilon = 0.5;
  set_batch(recipe, (pipeline.train.labels.size() + 1) / 2);  // two steps an epoch
  const auto epochs = [&] {
    std::size_t total = 0;
    fit_head(pipeline.train, recipe, [&](const Progress& progress) {
      if (progress.stage == "train the head") total = progress.total;
      return true;
    });
    return total;
  };
  recipe.least_final_steps = 0;
  recipe.least_steps_without_metric = 0;
  recipe.final_training.epochs = 20;
  const std::size_t whole = epochs();
  ASSERT_GT(whole, 0U);
  recipe.most_final_steps = 10;
  EXPECT_EQ(epochs(), whole / 4);
  recipe.most_final_steps = 0;
  recipe.least_final_steps = 80;
  EXPECT_EQ(epochs(), 2 * whole);
  recipe.metric = {};
  recipe.least_steps_without_metric = 120;
  EXPECT_EQ(epochs(), 3 * whole);
  set_epochs(recipe, 20);
  EXPECT_EQ(epochs(), whole) << "epochs that are given are made";
}

TEST(RadiusSearch, ShortProbesAreLengthenedToTheLeastSteps) {
  const auto rows = small_task();
  SearchOptions options = quick_search();
  options.probe.batch = (rows.rows() + 1) / 2;  // two steps an epoch
  options.probe.epochs = 6;
  const double long_probes = search_radius(rows, HeadKind::kCosine, options).epsilon;
  options.probe.epochs = 1;
  const double short_probes = search_radius(rows, HeadKind::kCosine, options).epsilon;
  options.least_steps = 11;
  EXPECT_EQ(search_radius(rows, HeadKind::kCosine, options).epsilon, long_probes);
  EXPECT_NE(long_probes, short_probes);
  options.probe.epochs = 6;
  options.least_steps = 3;
  EXPECT_EQ(search_radius(rows, HeadKind::kCosine, options).epsilon, long_probes);
}

TEST(RadiusSearch, NamesOptionsOutOfRange) {
  const auto examples = small_task();
  const auto rejected = [&](const char* option, const char* found, const auto& change) {
    SearchOptions options = quick_search();
    change(options);
    const auto search = [&] { search_radius(examples, HeadKind::kCosine, options); };
    expect_error(ErrorKind::kUsage, option, search);
    expect_error(ErrorKind::kUsage, found, search);
  };
  rejected("a threshold", "found 1.5", [](SearchOptions& options) { options.threshold = 1.5; });
  rejected("a threshold", "found 0", [](SearchOptions& options) { options.threshold = 0.0; });
  rejected("a search range", "found 0 to -1", [](SearchOptions& options) { options.highest = -1.0; });
  rejected("a search range", "found -2 to 10", [](SearchOptions& options) { options.lowest = -2.0; });
  rejected("a search tolerance", "found 0", [](SearchOptions& options) { options.tolerance = 0.0; });
}

// The options that make a search other than the paper's decide which class searches.
TEST(RadiusSearch, BisectsUnlessAnOptionAsksForMore) {
  const auto examples = small_task();
  SearchOptions options = quick_search();
  options.tolerance = 2.0;
  for (const bool warm : {false, true}) {
    options.warm_start = warm;
    const SearchResult result = search_radius(examples, HeadKind::kCosine, options);
    ASSERT_EQ(result.probes.size(), 3U);
    EXPECT_EQ(result.epsilon, (result.probes.back().low + result.probes.back().high) / 2.0);
    EXPECT_EQ(result.probes.front().epsilon, 5.0);
  }
  options.interpolate = true;
  EXPECT_NE(search_radius(examples, HeadKind::kCosine, options).probes.front().epsilon, 5.0)
      << "a search that interpolates starts at the radius of the prototypes";
}

TEST(RadiusSearch, StopsWhenAsked) {
  const auto rows = small_task();
  int calls = 0;
  const ProgressCallback stop = [&](const Progress&) { return ++calls < 40; };
  try {
    search_radius(rows, HeadKind::kCosine, quick_search(), stop);
    FAIL() << "expected the search to be stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
  }
  EXPECT_EQ(calls, 40);
}

}  // namespace
}  // namespace annulus
