// The episodes protocol: thousands of small tasks, each learnt from a few examples of a few classes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/protocols/cached_runs.h"
#include "annulus/eval/protocols/comparison.h"
#include "annulus/learn/baselines/base_classes.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/task/episode.h"
#include "annulus/task/feature_set.h"
#include "annulus/task/query_balance.h"

namespace annulus {

// The learning rates that the paper chooses from on extra episodes (Appendix C).
inline constexpr std::array kEpisodeLearningRates{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0};

// What the episodes of one seed come to.
struct SeedScore {
  std::vector<double> accuracies;      // percent, in the order of sampling
  double epsilons = 0.0;               // sum over the episodes
  std::vector<std::uint64_t> correct;  // query examples classified correctly, of each class of the set
  std::vector<std::uint64_t> rows;     // query examples, likewise
  double seconds = 0.0;
};

struct EpisodesOptions {
  std::vector<std::size_t> shots{1, 5};
  std::size_t ways = 5;
  std::size_t queries = 15;  // per class; on average where they are not balanced
  QueryBalance query_balance{};
  std::size_t episodes = 500;  // per seed
  std::size_t seeds = 5;       // seed, seed + 1, ...
  std::uint64_t seed = 0;
  std::vector<std::string> methods{"ncm", "baseline", "ibm2"};
  std::string against{};                     // the reference method; empty: baseline if present, else the first
  Recipe recipe = recipe_named("episodes");  // its seed is set by each seed
  // Baseline and ibm2 take the learning rate of 1e-5, 1e-4, ..., 1 that is best on 20 further episodes, which are not
  // tested. It is chosen for each number of shots.
  bool choose_learning_rate = false;
  const BaseClasses* base = nullptr;  // for methods that need base classes
  int threads = 0;                    // one episode a thread; the result does not depend on it
  RunCache<SeedScore> cached_runs{};  // finished seeds that are kept; their keys hold data_name
  std::string data_name{};            // names the features (and base classes) by their content
};

struct HardEpisode {
  std::uint64_t seed = 0;
  std::size_t number = 0;  // index of the episode within its seed
  double accuracy = 0.0;
  std::vector<std::string> classes{};
};

// Accuracies in percent. Each value is taken over the episodes of a seed and then averaged over seeds.
struct EpisodesResult {
  std::string method;
  std::size_t shots = 0;
  double mean = 0.0;                // ACC_m
  double standard_deviation = 0.0;  // sigma, of the sample
  double worst = 0.0;               // ACC_1: the worst episode
  double worst_10 = 0.0;            // ACC_10: mean of the 10 worst (of all when there are fewer)
  double worst_100 = 0.0;           // ACC_100
  double interval = 0.0;            // half width of the 95 % interval of the mean, over all episodes of all seeds
  double epsilon = 0.0;             // mean radius; 0 for methods without one
  double seconds = 0.0;             // wall time of all its episodes
  std::vector<std::vector<double>> accuracies;  // per seed and episode, in the order of sampling
  double class_interval = 0.0;  // half width of the 95 % interval of the mean recall, with classes as the sample
  std::optional<double> learning_rate{};  // the chosen one
  std::vector<HardEpisode> worst_ones{};  // at most 10, the worst first
};

struct EpisodesReport {
  std::vector<EpisodesResult> results;  // by shots, then by method, in the order of the options
  std::size_t dimension = 0;
  std::vector<MethodComparison> comparisons{};  // paired by episode
};

// Every method sees the same episodes; transductive ones see all queries of an episode at once. Episodes of one seed
// share their noise rows, not their initial heads; within an episode the R noise vectors of an example are independent
// and have the right distribution. Throws Error{kUsage} and Error{kInput} before anything is trained.
EpisodesReport evaluate_episodes(const FeatureSet& set, const EpisodesOptions& options,
                                 const ProgressCallback& progress = {});

}  // namespace annulus
