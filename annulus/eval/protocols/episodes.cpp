// Runs episodes, one per thread, and summarises them.
#include "annulus/eval/protocols/episodes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/eval/metrics/metrics.h"
#include "annulus/eval/metrics/statistics.h"
#include "annulus/kernels/row_range.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/method/noise_bank.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kEpisodesPerReport = 32;                    // between two calls of progress
constexpr std::size_t kExtraEpisodes = 20;                        // for choosing a learning rate
constexpr std::size_t kFirstExtraEpisode = std::size_t{1} << 30;  // episode numbers from here on are not tested
constexpr std::size_t kShownWorst = 10;
constexpr std::size_t kBankBytes = std::size_t{512} << 20;  // noise shared by all episodes of a seed
constexpr std::size_t kQueryBytes = std::size_t{64}
                                    << 10;  // query examples at a time, to stay in the processor's cache

struct EpisodeScore {
  double accuracy = 0.0;
  double epsilon = 0.0;
  std::vector<std::uint32_t> correct;  // per class of the episode
};

// The way of each query of an episode.
std::vector<std::size_t> truth_of(const Episode& episode) {
  std::vector<std::size_t> truth;
  for (std::size_t way = 0; way < episode.query_counts.size(); ++way) {
    truth.insert(truth.end(), episode.query_counts[way], way);
  }
  return truth;
}

// Query rows of each class that are named right.
std::vector<std::uint32_t> count_correct(const FeatureSet& set, const Episode& episode, const FittedMethod& fitted) {
  thread_local Matrix<float> buffer;  // too large for the allocator to keep in its cache
  const std::size_t block = std::max<std::size_t>(1, kQueryBytes / (set.dimension() * sizeof(float)));
  const std::vector<std::size_t> truth = truth_of(episode);
  std::vector<std::uint32_t> correct(episode.query_counts.size(), 0);
  for (std::size_t first = 0; first < truth.size(); first += block) {
    const auto indices = std::span(episode.query).subspan(first, std::min(block, truth.size() - first));
    const auto rows = reuse(buffer, indices.size(), set.dimension());
    set.copy_rows(indices, rows);
    for (std::size_t i = 0; i < indices.size(); ++i) bring_into_range(rows.row(i));
    const auto predicted = fitted.predict(rows);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      if (static_cast<std::size_t>(predicted[i]) == truth[first + i]) ++correct[truth[first + i]];
    }
  }
  return correct;
}

// The same for a method that sees all queries at once.
std::vector<std::uint32_t> count_correct_together(const FeatureSet& set, const Episode& episode, const Method& method,
                                                  const LabelledExamples& support, const MethodContext& context) {
  const LabelledExamples queries = gather(set, episode.query);
  const QueryScores all = method.score_queries(support, queries.features.view(), context, {});
  const std::vector<std::size_t> truth = truth_of(episode);
  std::vector<std::uint32_t> correct(episode.query_counts.size(), 0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (argmax(all.scores.row(i)) == truth[i]) ++correct[truth[i]];
  }
  return correct;
}

EpisodeScore run_episode(const FeatureSet& set, const Episode& episode, const EpisodeShape& shape, const Method& method,
                         const MethodContext& context) {
  LabelledExamples support{Matrix<float>(episode.support.size(), set.dimension()), {}, shape.ways};
  set.copy_rows(episode.support, support.features.view());
  for (std::size_t i = 0; i < episode.support.size(); ++i) {
    bring_into_range(support.features.row(i));
    support.labels.push_back(static_cast<std::int32_t>(i / shape.shots));
  }
  EpisodeScore score;
  if (method.transductive()) {
    score.correct = count_correct_together(set, episode, method, support, context);
  } else {
    const FittedMethod fitted = method.fit(support, context, {});
    score.epsilon = fitted.epsilon;
    score.correct = count_correct(set, episode, fitted);
  }
  const auto correct = std::accumulate(score.correct.begin(), score.correct.end(), std::size_t{0});
  score.accuracy = 100.0 * static_cast<double>(correct) / static_cast<double>(episode.query.size());
  return score;
}

double mean_of_worst(const std::vector<double>& sorted, std::size_t count) {
  count = std::min(count, sorted.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += sorted[i];
  return sum / static_cast<double>(count);
}

// Fills in the values that are computed from the accuracies.
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
  result.interval = interval_of_mean(all);
}

// The interval of the mean recall over the classes that were queried.
double interval_over_classes(const std::vector<std::uint64_t>& correct, const std::vector<std::uint64_t>& rows) {
  std::vector<double> recall;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    if (rows[c] > 0) recall.push_back(100.0 * static_cast<double>(correct[c]) / static_cast<double>(rows[c]));
  }
  return interval_of_mean(recall);
}

class Runner {
 public:
  Runner(const FeatureSet& set, const EpisodesOptions& options, const ProgressCallback& progress)
      : set_(set), options_(options), progress_(progress) {}

  EpisodesResult run(const Method& method, std::size_t shots) {
    const EpisodeShape shape{options_.ways, shots, options_.queries, options_.query_balance};
    const EpisodeSampler sampler(set_, shape);
    EpisodesResult result;
    result.method = method.name;
    result.shots = shots;
    Recipe recipe = options_.recipe;
    if (options_.choose_learning_rate && method.has_learning_rate()) {
      result.learning_rate = choose_learning_rate(method, sampler, shape);
      set_learning_rate(recipe, *result.learning_rate);
    }
    double epsilons = 0.0;
    std::vector<std::uint64_t> correct(set_.classes(), 0);
    std::vector<std::uint64_t> rows(set_.classes(), 0);
    for (const SeedScore& score : all_seeds(method, recipe, sampler, shape)) {
      epsilons += score.epsilons;
      result.seconds += score.seconds;
      for (std::size_t c = 0; c < correct.size(); ++c) {
        correct[c] += score.correct[c];
        rows[c] += score.rows[c];
      }
      result.accuracies.push_back(score.accuracies);
    }
    result.epsilon = epsilons / static_cast<double>(options_.seeds * options_.episodes);
    sum_up(result);
    result.class_interval = interval_over_classes(correct, rows);
    result.worst_ones = worst_ones(result, sampler);
    return result;
  }

 private:
  std::string seed_key(const Method& method, const Recipe& recipe, const EpisodeShape& shape,
                       std::uint64_t seed) const {
    std::map<std::string, std::string> parts = describe(recipe);
    parts["protocol"] = "episodes";
    parts["data"] = options_.data_name;
    parts["shape"] = fmt::format("{} {} {} {}", shape.ways, shape.shots, shape.queries, options_.episodes);
    if (shape.balance.dirichlet) parts["query_balance"] = to_string(shape.balance);
    parts["seed"] = std::to_string(seed);
    parts["method"] = std::string(method.name);
    return run_key_of(parts);
  }

  // A cache that somebody else keeps may hold anything.
  void check_seed(const SeedScore& score) const {
    if (score.correct.size() != set_.classes() || score.rows.size() != set_.classes() ||
        score.accuracies.size() != options_.episodes) {
      fail(ErrorKind::kFormat, "expected {} cached episodes of {} classes, found {} and {}", options_.episodes,
           set_.classes(), score.accuracies.size(), score.correct.size());
    }
  }

  // The episodes of every seed: cached ones are read, the others are run.
  std::vector<SeedScore> all_seeds(const Method& method, const Recipe& recipe, const EpisodeSampler& sampler,
                                   const EpisodeShape& shape) {
    const std::size_t before = done_;
    const bool kept = !options_.cached_runs.empty();
    std::vector<CachedRun<SeedScore>> wanted;
    for (std::size_t s = 0; s < options_.seeds; ++s) {
      const std::uint64_t seed = options_.seed + s;
      wanted.push_back({kept ? seed_key(method, recipe, shape, seed) : "", [&, seed] {
                          return run_seed(method, recipe, sampler, shape, seed, 0, options_.episodes, true);
                        }});
    }
    std::vector<SeedScore> scores = cached_runs(options_.cached_runs, wanted, [&](std::size_t finished) {
      done_ = before + finished * options_.episodes;
      if (kept) report(progress_, {fmt::format("{}, k={}", method.name, shape.shots), done_, total(), {}});
    });
    for (const SeedScore& score : scores) check_seed(score);
    done_ = before + options_.seeds * options_.episodes;
    return scores;
  }

  // Episodes [first, first + count) of a seed.
  SeedScore run_seed(const Method& method, Recipe recipe, const EpisodeSampler& sampler, const EpisodeShape& shape,
                     std::uint64_t seed, std::size_t first, std::size_t count, bool counts) {
    const auto start = now();
    NoiseBank bank(kBankBytes);
    set_seed(recipe, seed);
    set_threads(recipe, 1);
    set_noise_bank(recipe, &bank);
    std::vector<EpisodeScore> scores(count);
    for (std::size_t done = 0; done < count; done += kEpisodesPerReport) {
      report(progress_, {fmt::format("{}, k={}{}", method.name, shape.shots, counts ? "" : ", learning rate"),
                         done_ + (counts ? done : 0),
                         total(),
                         {}});
      const std::size_t block = std::min(kEpisodesPerReport, count - done);
      parallel_for(options_.threads, block, [&](std::size_t task) {
        const auto number = static_cast<std::uint32_t>(first + done + task);
        Recipe own = recipe;
        set_task(own, number + 1);
        scores[done + task] = run_episode(set_, sampler.draw(seed, number), shape, method, {own, options_.base});
      });
    }
    SeedScore result{
        {}, 0.0, std::vector<std::uint64_t>(set_.classes(), 0), std::vector<std::uint64_t>(set_.classes(), 0), 0.0};
    for (std::size_t i = 0; i < count; ++i) {
      result.accuracies.push_back(scores[i].accuracy);
      result.epsilons += scores[i].epsilon;
      const Episode episode = sampler.draw(seed, static_cast<std::uint32_t>(first + i));
      for (std::size_t way = 0; way < shape.ways; ++way) {
        const auto label = static_cast<std::size_t>(set_.labels()[episode.support[way * shape.shots]]);
        result.correct[label] += scores[i].correct[way];
        result.rows[label] += episode.query_counts[way];
      }
    }
    result.seconds = seconds_since(start);
    return result;
  }

  // The rate with the best mean accuracy on episodes that are not tested; the smallest of equal ones.
  double choose_learning_rate(const Method& method, const EpisodeSampler& sampler, const EpisodeShape& shape) {
    double best_rate = 0.0;
    double best = -1.0;
    for (const double rate : kEpisodeLearningRates) {
      Recipe recipe = options_.recipe;
      set_learning_rate(recipe, rate);
      const SeedScore score =
          run_seed(method, recipe, sampler, shape, options_.seed, kFirstExtraEpisode, kExtraEpisodes, false);
      const double mean = summarize(score.accuracies).mean;
      if (mean > best) {
        best = mean;
        best_rate = rate;
      }
    }
    return best_rate;
  }

  std::vector<HardEpisode> worst_ones(const EpisodesResult& result, const EpisodeSampler& sampler) const {
    std::vector<HardEpisode> all;
    for (std::size_t s = 0; s < result.accuracies.size(); ++s) {
      for (std::size_t i = 0; i < result.accuracies[s].size(); ++i) {
        all.push_back({options_.seed + s, i, result.accuracies[s][i], {}});
      }
    }
    const std::size_t shown = std::min(kShownWorst, all.size());
    std::stable_sort(all.begin(), all.end(),
                     [](const HardEpisode& a, const HardEpisode& b) { return a.accuracy < b.accuracy; });
    all.resize(shown);
    for (HardEpisode& episode : all) {
      const Episode rows = sampler.draw(episode.seed, static_cast<std::uint32_t>(episode.number));
      for (std::size_t way = 0; way < options_.ways; ++way) {
        const auto label = static_cast<std::size_t>(set_.labels()[rows.support[way * result.shots]]);
        episode.classes.push_back(set_.class_names()[label]);
      }
    }
    return all;
  }

  std::size_t total() const {
    return options_.shots.size() * options_.methods.size() * options_.seeds * options_.episodes;
  }

  const FeatureSet& set_;
  const EpisodesOptions& options_;
  const ProgressCallback& progress_;
  std::size_t done_ = 0;
};

// Every method against the reference method for a number of shots, paired by episode.
void compare_methods(EpisodesReport& report, std::size_t first, const EpisodesOptions& options) {
  const auto flat = [](const EpisodesResult& result) {
    std::vector<double> all;
    for (const auto& accuracies : result.accuracies) all.insert(all.end(), accuracies.begin(), accuracies.end());
    return all;
  };
  const std::string against = reference_method(options.methods, options.against);
  const auto position = static_cast<std::size_t>(std::find(options.methods.begin(), options.methods.end(), against) -
                                                 options.methods.begin());
  const std::vector<double> reference = flat(report.results[first + position]);
  for (std::size_t m = 0; m < options.methods.size(); ++m) {
    if (m == position) continue;
    const EpisodesResult& other = report.results[first + m];
    report.comparisons.push_back(
        {other.shots, other.method, against, compare_pairs(flat(other), reference, options.seed)});
  }
}

void check(const FeatureSet& set, const EpisodesOptions& options) {
  if (options.shots.empty()) fail(ErrorKind::kUsage, "expected at least one number of shots, found none");
  if (options.episodes == 0 || options.seeds == 0) {
    fail(ErrorKind::kUsage, "expected at least one episode and one seed, found {} and {}", options.episodes,
         options.seeds);
  }
  check_methods(options.methods, options.base, set.dimension());
  check_reference(options.methods, options.against);
  if (options.episodes > kFirstExtraEpisode) {
    fail(ErrorKind::kUsage, "expected at most {} episodes a seed, found {}", kFirstExtraEpisode, options.episodes);
  }
  for (const std::size_t shots : options.shots) EpisodeSampler(set, {options.ways, shots, options.queries, {}});
}

}  // namespace

EpisodesReport evaluate_episodes(const FeatureSet& set, const EpisodesOptions& options,
                                 const ProgressCallback& progress) {
  check(set, options);
  EpisodesReport result{{}, set.dimension()};
  Runner runner(set, options, progress);
  for (const std::size_t shots : options.shots) {
    const std::size_t first = result.results.size();
    for (const std::string& name : options.methods) result.results.push_back(runner.run(method_named(name), shots));
    compare_methods(result, first, options);
  }
  return result;
}

}  // namespace annulus
