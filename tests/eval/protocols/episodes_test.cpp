// The episodes protocol: its statistics, its independence of threads, and the bank that keeps its noise.
#include "annulus/eval/protocols/episodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/method/noise_bank.h"
#include "annulus/report/tables/episodes_report.h"

namespace annulus {
namespace {

// Ten overlapping classes of 12 rows around random means.
FeatureSet clouds() {
  constexpr std::size_t kDimension = 24;
  Matrix<float> features(120, kDimension);
  std::vector<std::int32_t> labels;
  std::vector<float> mean(kDimension);
  for (std::size_t i = 0; i < features.rows(); ++i) {
    fill_gaussian({1, RandomUse::kSynthetic, 0}, i / 12 * kDimension, mean);
    fill_gaussian({1, RandomUse::kSynthetic, 1}, i * kDimension, features.row(i));
    for (std::size_t j = 0; j < kDimension; ++j) features(i, j) += mean[j];
    labels.push_back(static_cast<std::int32_t>(i / 12));
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = std::move(labels);
  parts.source = "clouds";
  return FeatureSet(std::move(parts));
}

EpisodesOptions quick_options() {
  EpisodesOptions options;
  options.shots = {1, 3};
  options.ways = 3;
  options.queries = 5;
  options.episodes = 40;
  options.seeds = 2;
  set_virtual_count(options.recipe, 8);
  set_epochs(options.recipe, 20);
  options.recipe.search.pretrain.epochs = 10;
  options.recipe.search.probe.epochs = 4;
  options.recipe.search.tolerance = 2.0;
  return options;
}

TEST(Episodes, TheLearningRateIsChosenOnEpisodesThatAreNotTested) {
  EpisodesOptions options = quick_options();
  options.shots = {1};
  options.methods = {"ncm", "baseline"};
  const EpisodesReport plain = evaluate_episodes(clouds(), options);
  EXPECT_FALSE(plain.results[1].learning_rate);
  options.choose_learning_rate = true;
  const EpisodesReport chosen = evaluate_episodes(clouds(), options);
  EXPECT_FALSE(chosen.results[0].learning_rate);
  EXPECT_EQ(chosen.results[0].accuracies, plain.results[0].accuracies);
  // A head cannot learn in 20 epochs at 1e-5: it is not the one chosen.
  ASSERT_TRUE(chosen.results[1].learning_rate);
  EXPECT_GT(*chosen.results[1].learning_rate, 1e-4);
  set_learning_rate(options.recipe, *chosen.results[1].learning_rate);
  options.choose_learning_rate = false;
  EXPECT_EQ(evaluate_episodes(clouds(), options).results[1].accuracies, chosen.results[1].accuracies);
}

TEST(Episodes, CachedSeedsAreNotRunAgainAndMethodsAreComparedByEpisode) {
  EpisodesOptions options = quick_options();
  options.shots = {1};
  options.methods = {"ncm", "baseline"};
  std::map<std::string, SeedScore> kept;
  std::size_t computed = 0;
  options.cached_runs.find = [&](const std::string& key) {
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  };
  options.cached_runs.keep = [&](const std::string& key, const SeedScore& run) {
    ++computed;
    kept[key] = run;
  };
  const EpisodesReport first = evaluate_episodes(clouds(), options);
  EXPECT_EQ(computed, 4U);
  options.seeds = 3;
  const EpisodesReport more = evaluate_episodes(clouds(), options);
  EXPECT_EQ(computed, 6U);
  EXPECT_EQ(more.results[1].accuracies[1], first.results[1].accuracies[1]);
  ASSERT_EQ(first.comparisons.size(), 1U);
  EXPECT_EQ(first.comparisons[0].against, "baseline");
  EXPECT_EQ(first.comparisons[0].paired.pairs, 80U);
  EXPECT_NEAR(first.comparisons[0].paired.difference, first.results[0].mean - first.results[1].mean, 1e-9);
  ASSERT_EQ(first.results[0].worst_ones.size(), 10U);
  EXPECT_LE(first.results[0].worst_ones[0].accuracy, first.results[0].worst_ones[9].accuracy);
  EXPECT_EQ(first.results[0].worst_ones[0].classes.size(), 3U);
  EXPECT_GT(first.results[0].class_interval, 0.0);
}

TEST(Episodes, SummariesFollowFromTheAccuracies) {
  const EpisodesReport report = evaluate_episodes(clouds(), quick_options());
  ASSERT_EQ(report.results.size(), 6U);
  EXPECT_EQ(report.results[0].method, "ncm");
  EXPECT_EQ(report.results[3].shots, 3U);
  for (const EpisodesResult& result : report.results) {
    ASSERT_EQ(result.accuracies.size(), 2U);
    double mean = 0.0;
    double worst = 0.0;
    double worst_10 = 0.0;
    for (std::vector<double> seed : result.accuracies) {
      ASSERT_EQ(seed.size(), 40U);
      std::sort(seed.begin(), seed.end());
      mean += std::accumulate(seed.begin(), seed.end(), 0.0) / 40.0 / 2.0;
      worst += seed.front() / 2.0;
      worst_10 += std::accumulate(seed.begin(), seed.begin() + 10, 0.0) / 10.0 / 2.0;
    }
    EXPECT_NEAR(result.mean, mean, 1e-9);
    EXPECT_NEAR(result.worst, worst, 1e-9);
    EXPECT_NEAR(result.worst_10, worst_10, 1e-9);
    EXPECT_NEAR(result.worst_100, mean, 1e-9) << "there are fewer than 100 episodes";
    EXPECT_GT(result.mean, 60.0) << result.method;  // a guess is right once in three
    EXPECT_GT(result.interval, 0.0);
  }
  EXPECT_GT(report.results[3].mean, report.results[0].mean) << "three shots are better than one";
  EXPECT_GT(report.results[2].epsilon, 0.0);
}

TEST(Episodes, ThreadsDoNotMatter) {
  const FeatureSet set = clouds();
  EpisodesOptions options = quick_options();
  options.methods = {"ncm", "ibm2"};
  options.threads = 1;
  const EpisodesReport one = evaluate_episodes(set, options);
  options.threads = 3;
  const EpisodesReport three = evaluate_episodes(set, options);
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    EXPECT_EQ(one.results[i].accuracies, three.results[i].accuracies);
    EXPECT_EQ(one.results[i].epsilon, three.results[i].epsilon);
  }
}

TEST(Episodes, JsonHasTheDocumentedKeys) {
  EpisodesOptions options = quick_options();
  options.methods = {"ncm"};
  const EpisodesReport report = evaluate_episodes(clouds(), options);
  const auto json = nlohmann::json::parse(episodes_json(report, options, "clouds.npz"));
  EXPECT_EQ(json["protocol"], "episodes");
  ASSERT_EQ(json["results"].size(), 2U);
  for (const char* key : {"method", "shots", "acc_m", "sigma", "acc_1", "acc_10", "acc_100", "ci95"}) {
    EXPECT_TRUE(json["results"][0].contains(key)) << key;
  }
  EXPECT_DOUBLE_EQ(json["results"][1]["acc_m"], report.results[1].mean);
  EXPECT_NE(episodes_table(report).find("ACC_100"), std::string::npos);
}

TEST(Episodes, QueriesMayBeUnbalanced) {
  EpisodesOptions options = quick_options();
  options.shots = {1};
  options.methods = {"ncm", "tim"};
  const EpisodesReport balanced = evaluate_episodes(clouds(), options);
  options.query_balance.dirichlet = 0.5;
  const EpisodesReport drawn = evaluate_episodes(clouds(), options);
  EXPECT_NE(drawn.results[0].accuracies, balanced.results[0].accuracies);
  const auto gain = [](const EpisodesReport& report) { return report.results[1].mean - report.results[0].mean; };
  EXPECT_GT(gain(balanced), gain(drawn)) << "TIM wants balanced queries";
  // 15 queries in all: every accuracy is a multiple of one in fifteen.
  for (const double accuracy : drawn.results[0].accuracies[0]) {
    EXPECT_NEAR(accuracy * 15.0 / 100.0, std::round(accuracy * 15.0 / 100.0), 1e-9);
  }
  options.threads = 3;
  const EpisodesReport again = evaluate_episodes(clouds(), options);
  EXPECT_EQ(again.results[1].accuracies, drawn.results[1].accuracies);
  const auto json = nlohmann::json::parse(episodes_json(drawn, options, "clouds.npz"));
  EXPECT_EQ(json["query_balance"], "dirichlet:0.5");
  EXPECT_EQ(json["results"][1]["transductive"], true);
  EXPECT_NE(episodes_table(drawn).find("tim (transductive)"), std::string::npos);
}

TEST(Episodes, SeedsOfAnotherBalanceAreNotReused) {
  EpisodesOptions options = quick_options();
  options.shots = {1};
  options.methods = {"ncm"};
  std::map<std::string, SeedScore> kept;
  options.cached_runs.keep = [&](const std::string& key, const SeedScore& run) { kept[key] = run; };
  evaluate_episodes(clouds(), options);
  EXPECT_EQ(kept.size(), 2U);
  options.query_balance.dirichlet = 1.0;
  evaluate_episodes(clouds(), options);
  EXPECT_EQ(kept.size(), 4U);
  options.query_balance.dirichlet = 2.0;
  evaluate_episodes(clouds(), options);
  EXPECT_EQ(kept.size(), 6U);
}

TEST(Episodes, RejectsImpossibleShapesBeforeTraining) {
  EpisodesOptions options = quick_options();
  options.shots = {1, 10};
  EXPECT_THROW(evaluate_episodes(clouds(), options), Error);
  options = quick_options();
  options.episodes = 0;
  EXPECT_THROW(evaluate_episodes(clouds(), options), Error);
}

TEST(NoiseBank, ReturnsTheValuesOfTheStreamAndReportsWhenFull) {
  const RandomStream stream{3, RandomUse::kTrainingNoise, 2};
  NoiseBank bank(3 * 5 * sizeof(float));
  const auto kept = bank.rows(stream, 4, 3, 5);
  ASSERT_EQ(kept.rows(), 3U);
  std::vector<float> expected(5);
  fill_gaussian(stream, noise_row_start(4, 2, 5), expected);
  for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(kept(2, j), expected[j]);
  EXPECT_EQ(bank.rows(stream, 4, 3, 5).data(), kept.data());
  EXPECT_EQ(bank.rows(stream, 5, 3, 5).rows(), 0U);
}

// A bank changes nothing but the time: not the head, not the radius.
TEST(NoiseBank, ChangesNoResult) {
  const FeatureSet set = clouds();
  std::vector<std::uint32_t> all(set.rows());
  std::iota(all.begin(), all.end(), 0U);
  const LabelledExamples rows = gather(set, all);
  Recipe recipe = quick_options().recipe;
  const FitResult without = fit_head(rows, recipe);
  NoiseBank bank(std::size_t{1} << 24);
  set_noise_bank(recipe, &bank);
  const FitResult with = fit_head(rows, recipe);
  EXPECT_EQ(without.epsilon, with.epsilon);
  for (std::size_t i = 0; i < rows.classes * set.dimension(); ++i) {
    ASSERT_EQ(without.head.direction.data()[i], with.head.direction.data()[i]);
  }
}

}  // namespace
}  // namespace annulus
