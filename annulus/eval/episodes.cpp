// Runs episodes, one a thread, and sums them up.
#include "annulus/eval/episodes.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/eval/method.h"
#include "annulus/eval/metrics.h"
#include "annulus/learn/noise_bank.h"

namespace annulus {
namespace {

constexpr std::size_t kEpisodesPerReport = 32;              // between two calls of progress
constexpr std::size_t kBankBytes = std::size_t{512} << 20;  // of noise kept for all episodes of a seed
constexpr std::size_t kQueryBytes = std::size_t{64} << 10;  // of query rows at a time: they stay near the processor

struct EpisodeScore {
  double accuracy = 0.0;
  double epsilon = 0.0;
};

// Query rows that are named right; `queries` rows of a class follow one another.
std::size_t count_hits(const FeatureSet& set, std::span<const std::uint32_t> query, std::size_t queries,
                       const FittedMethod& fitted) {
  thread_local Matrix<float> buffer;  // too large for the allocator to keep at hand
  const std::size_t block = std::max<std::size_t>(1, kQueryBytes / (set.dimension() * sizeof(float)));
  std::size_t hits = 0;
  for (std::size_t first = 0; first < query.size(); first += block) {
    const auto indices = query.subspan(first, std::min(block, query.size() - first));
    const auto rows = reuse(buffer, indices.size(), set.dimension());
    set.copy_rows(indices, rows);
    const auto predicted = fitted.predict(rows);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      if (static_cast<std::size_t>(predicted[i]) == (first + i) / queries) ++hits;
    }
  }
  return hits;
}

EpisodeScore run_episode(const FeatureSet& set, const Episode& episode, const EpisodeShape& shape, const Method& method,
                         const MethodContext& context) {
  LabelledRows support{Matrix<float>(episode.support.size(), set.dimension()), {}, shape.ways};
  set.copy_rows(episode.support, support.features.view());
  for (std::size_t i = 0; i < episode.support.size(); ++i) {
    support.labels.push_back(static_cast<std::int32_t>(i / shape.shots));
  }
  const FittedMethod fitted = method.fit(support, context, {});
  return {100.0 * static_cast<double>(count_hits(set, episode.query, shape.queries, fitted)) /
              static_cast<double>(episode.query.size()),
          fitted.epsilon};
}

double mean_of_worst(const std::vector<double>& sorted, std::size_t count) {
  count = std::min(count, sorted.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += sorted[i];
  return sum / static_cast<double>(count);
}

// Fills in the numbers from the accuracies.
void sum_up(EpisodesResult& result) {
  std::vector<double> all;
  const auto seeds = static_cast<double>(result.accuracies.size());
  for (const std::vector<double>& accuracies : result.accuracies) {
    all.insert(all.end(), accuracies.begin(), accuracies.end());
    std::vector<double> sorted = accuracies;
    std::sort(sorted.begin(), sorted.end());
    const Summary summary = summarize(sorted);
    result.mean += summary.mean / seeds;
    result.standard_deviation += summary.standard_deviation / seeds;
    result.worst += sorted.front() / seeds;
    result.worst_10 += mean_of_worst(sorted, 10) / seeds;
    result.worst_100 += mean_of_worst(sorted, 100) / seeds;
  }
  constexpr double kNormalQuantile = 1.959963984540054;  // of 97.5 %
  result.interval = kNormalQuantile * summarize(all).standard_deviation / std::sqrt(static_cast<double>(all.size()));
}

class Runner {
 public:
  Runner(const FeatureSet& set, const EpisodesOptions& options, const ProgressCallback& progress)
      : set_(set), options_(options), progress_(progress) {}

  EpisodesResult run(const Method& method, std::size_t shots) {
    const auto start = std::chrono::steady_clock::now();
    const EpisodeShape shape{options_.ways, shots, options_.queries};
    const EpisodeSampler sampler(set_, shape);
    EpisodesResult result;
    result.method = method.name;
    result.shots = shots;
    double epsilons = 0.0;
    for (std::size_t s = 0; s < options_.seeds; ++s) {
      std::vector<double>& accuracies = result.accuracies.emplace_back();
      for (const EpisodeScore& score : run_seed(method, sampler, shape, options_.seed + s)) {
        accuracies.push_back(score.accuracy);
        epsilons += score.epsilon;
      }
    }
    result.epsilon = epsilons / static_cast<double>(options_.seeds * options_.episodes);
    sum_up(result);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

 private:
  std::vector<EpisodeScore> run_seed(const Method& method, const EpisodeSampler& sampler, const EpisodeShape& shape,
                                     std::uint64_t seed) {
    NoiseBank bank(kBankBytes);
    Recipe recipe = options_.recipe;
    set_seed(recipe, seed);
    set_threads(recipe, 1);
    set_noise_bank(recipe, &bank);
    std::vector<EpisodeScore> scores(options_.episodes);
    for (std::size_t first = 0; first < scores.size(); first += kEpisodesPerReport) {
      report(progress_, {fmt::format("{}, k={}", method.name, shape.shots), done_ + first, total(), {}});
      const std::size_t count = std::min(kEpisodesPerReport, scores.size() - first);
      parallel_for(options_.threads, count, [&](std::size_t task) {
        const auto number = static_cast<std::uint32_t>(first + task);
        Recipe own = recipe;
        set_task(own, number + 1);
        scores[number] = run_episode(set_, sampler.draw(seed, number), shape, method, {own, options_.base});
      });
    }
    done_ += scores.size();
    return scores;
  }

  std::size_t total() const {
    return options_.shots.size() * options_.methods.size() * options_.seeds * options_.episodes;
  }

  const FeatureSet& set_;
  const EpisodesOptions& options_;
  const ProgressCallback& progress_;
  std::size_t done_ = 0;
};

void check(const FeatureSet& set, const EpisodesOptions& options) {
  if (options.shots.empty()) fail(ErrorKind::kUsage, "expected at least one number of shots, found none");
  if (options.episodes == 0 || options.seeds == 0) {
    fail(ErrorKind::kUsage, "expected at least one episode and one seed, found {} and {}", options.episodes,
         options.seeds);
  }
  check_methods(options.methods, options.base, set.dimension());
  for (const std::size_t shots : options.shots) EpisodeSampler(set, {options.ways, shots, options.queries});
}

}  // namespace

EpisodesReport evaluate_episodes(const FeatureSet& set, const EpisodesOptions& options,
                                 const ProgressCallback& progress) {
  check(set, options);
  EpisodesReport result{{}, set.dimension()};
  Runner runner(set, options, progress);
  for (const std::size_t shots : options.shots) {
    for (const std::string& name : options.methods) result.results.push_back(runner.run(method_named(name), shots));
  }
  return result;
}

}  // namespace annulus
