// The episodes protocol: thousands of small tasks, each learnt from a few rows of a few classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/base_classes.h"
#include "annulus/eval/cells.h"
#include "annulus/eval/comparison.h"
#include "annulus/eval/stamp.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/episode.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct EpisodesOptions {
  std::vector<std::size_t> shots{1, 5};
  std::size_t ways = 5;
  std::size_t queries = 15;    // a class
  std::size_t episodes = 500;  // a seed
  std::size_t seeds = 5;       // seed, seed + 1, ...
  std::uint64_t seed = 0;
  std::vector<std::string> methods{"ncm", "baseline", "ibm2"};
  std::string against{};                     // the method that others are compared with; empty: baseline if there
  Recipe recipe = recipe_named("episodes");  // its seed is set by each seed
  // Baseline and ibm2 take, of 1e-5, 1e-4, ..., 1, the learning rate that is best on 20 episodes drawn beside those
  // that count; chosen anew for each number of shots.
  bool choose_learning_rate = false;
  const BaseClasses* base = nullptr;  // for methods that need base classes
  int threads = 0;                    // one episode a thread; the result does not depend on it
  CellStore cells{};                  // finished seeds that are kept; their keys hold data_name
  std::string data_name{};            // names the features (and base classes) by their content
};

struct HardEpisode {
  std::uint64_t seed = 0;
  std::size_t number = 0;  // of the seed's episodes
  double accuracy = 0.0;
  std::vector<std::string> classes{};
};

// Accuracies in percent. Each number is taken over the episodes of a seed and then averaged over seeds.
struct EpisodesResult {
  std::string method;
  std::size_t shots = 0;
  double mean = 0.0;                // ACC_m
  double standard_deviation = 0.0;  // sigma, of the sample
  double worst = 0.0;               // ACC_1: the worst episode
  double worst_10 = 0.0;            // ACC_10: mean of the 10 worst (of all, where there are fewer)
  double worst_100 = 0.0;           // ACC_100
  double interval = 0.0;            // half width of the 95 % interval of the mean, over all episodes of all seeds
  double epsilon = 0.0;             // mean radius; 0 for methods without one
  double seconds = 0.0;             // wall time of all its episodes
  std::vector<std::vector<double>> accuracies;  // of each seed's episodes, in the order drawn
  double class_interval = 0.0;  // half width of the 95 % interval of the mean recall, classes being the sample
  std::optional<double> learning_rate{};  // that was chosen
  std::vector<HardEpisode> worst_ones{};  // at most 10, the worst first
};

struct EpisodesReport {
  std::vector<EpisodesResult> results;  // by shots, then by method, in the order asked for
  std::size_t dimension = 0;
  std::vector<MethodComparison> comparisons{};  // paired by episode
};

// Every method sees the same episodes. Episodes of one seed share their noise rows (each still has R independent draws
// of the right law), not their first heads. Throws Error{kUsage} and Error{kInput} before anything is trained.
EpisodesReport evaluate_episodes(const FeatureSet& set, const EpisodesOptions& options,
                                 const ProgressCallback& progress = {});

// An aligned table, ending in a newline.
std::string episodes_table(const EpisodesReport& report);

// {"protocol": "episodes", ..., "results": [{"method", "shots", "acc_m", "sigma", "acc_1", "acc_10", "acc_100", "ci95",
// ...}], "comparisons", "stamp"}, as docs/file-formats.md says.
std::string episodes_json(const EpisodesReport& report, const EpisodesOptions& options, const std::string& source,
                          const std::optional<Stamp>& stamp = {});

}  // namespace annulus
