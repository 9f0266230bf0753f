// Measures cells of the paper's tables.
#include "annulus/eval/protocols/reproduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::array kPaperCosts{0.1, 1.0, 10.0, 100.0, 1000.0};  // C of the SVM that the paper chooses from
constexpr std::size_t kChoosingEpisodes = 20;
// Seeds of the episodes for choosing learning rates, far from those of the tested episodes.
constexpr std::uint64_t kChoosingSeed = std::uint64_t{1} << 32;

bool same_variant(const PaperCell& a, const PaperCell& b) {
  return a.method == b.method && a.virtual_count == b.virtual_count && a.noise_shape == b.noise_shape;
}

std::string variant_name(const PaperCell& cell) {
  std::string name = fmt::format("{}/{}, k={}, {}", cell.features.pretraining, cell.features.dataset,
                                 cell.shots == 0 ? "1%" : std::to_string(cell.shots), cell.method);
  if (cell.virtual_count != 0) name += fmt::format(", R {}", cell.virtual_count);
  if (!cell.noise_shape.empty()) name += ", " + cell.noise_shape;
  return name;
}

Variant variant_of(const PaperCell& cell, const ReproduceOptions& options) {
  Variant variant{variant_name(cell), cell.method, options.recipe};
  if (cell.virtual_count != 0) set_virtual_count(variant.recipe, cell.virtual_count);
  if (!cell.noise_shape.empty()) variant.recipe.noise_shape = noise_shape_from(cell.noise_shape);
  return variant;
}

// Learning rates are chosen on test labels only where the paper did so.
bool chooses(std::span<const PaperCell> cells, const PaperCell& like, const ReproduceOptions& options) {
  return options.best_rates && std::any_of(cells.begin(), cells.end(), [&](const PaperCell& cell) {
           return same_variant(cell, like) && cell.rate == PaperRate::kBest;
         });
}

struct Measured {
  VariantScore standard;
  std::optional<VariantScore> best;
  std::string chosen;
  std::vector<Candidate> candidates;
};

OurNumber number_of(const VariantScore& score) {
  return {score.accuracy.mean, score.accuracy.standard_deviation, 0.0, false, false, {}, score.runs, score.recall};
}

void compare(const PaperCell& paper, const std::optional<Allowance>& allowance, OurNumber& ours) {
  ours.difference = ours.value - paper.value;
  ours.outside = allowance && std::abs(ours.difference) > allowance->half_width;
}

// The SVM with every C of the paper, scored on the test labels.
void choose_cost(const SplitSource& source, const Variant& variant, RunCounter& counter, Measured& measured) {
  for (const double cost : kPaperCosts) {
    Variant at_cost = variant;
    at_cost.name = fmt::format("{}, C {}", variant.name, cost);
    at_cost.recipe.svm_cost = cost;
    VariantScore score = score_variant(source, at_cost, counter);
    measured.candidates.push_back({fmt::format("C {}", cost), score.accuracy.mean});
    if (!measured.best || score.accuracy.mean > measured.best->accuracy.mean) {
      measured.best = std::move(score);
      measured.chosen = measured.candidates.back().name;
    }
  }
}

Measured measure(const Variant& variant, bool choose, std::span<const FeatureSet> training, const FeatureSet& test,
                 const ReproduceOptions& options, RunCounter& counter) {
  const SplitSource source = splits_of_files(training, test, {options.seed, options.cached_runs});
  Measured measured;
  if (!choose || !has_learning_rate(variant.method)) {
    measured.standard = score_variant(source, variant, counter);
    if (choose && variant.method == "svm") choose_cost(source, variant, counter, measured);
    return measured;
  }
  RateSweep sweep = sweep_rates(source, variant, paper_rates(), counter);
  for (const VariantScore& score : sweep.scores) {
    measured.candidates.push_back({fmt::format("lr {}", score.learning_rate), score.accuracy.mean});
  }
  measured.chosen = measured.candidates[sweep.best].name;
  measured.best = std::move(sweep.scores[sweep.best]);
  measured.standard = std::move(sweep.standard);
  return measured;
}

double metric_of(const EpisodesResult& result, const std::string& metric) {
  if (metric == "acc_m") return result.mean;
  if (metric == "sigma") return result.standard_deviation;
  if (metric == "acc_1") return result.worst;
  return metric == "acc_10" ? result.worst_10 : result.worst_100;
}

EpisodesResult run_episodes(const FeatureSet& novel, EpisodesOptions options, const PaperCell& cell,
                            std::optional<double> rate, const ProgressCallback& progress) {
  options.shots = {cell.shots};
  options.methods = {cell.method};
  if (rate) set_learning_rate(options.recipe, *rate);
  return std::move(evaluate_episodes(novel, options, progress).results.front());
}

// The learning rate with the highest mean accuracy over a few episodes that are not tested.
double choose_rate(const FeatureSet& novel, EpisodesOptions options, const PaperCell& cell,
                   const ProgressCallback& progress, std::vector<Candidate>& candidates) {
  options.episodes = kChoosingEpisodes;
  options.seeds = 1;
  options.seed += kChoosingSeed;
  double best = kEpisodeLearningRates.front();
  double highest = -1.0;
  for (const double rate : kEpisodeLearningRates) {
    const double mean = run_episodes(novel, options, cell, rate, progress).mean;
    candidates.push_back({fmt::format("lr {}", rate), mean});
    if (mean > highest) {
      highest = mean;
      best = rate;
    }
  }
  return best;
}

}  // namespace

std::vector<ReproducedCell> reproduce_cells(std::span<const PaperCell> cells, std::span<const FeatureSet> training,
                                            const FeatureSet& test, const ReproduceOptions& options,
                                            RunCounter& counter) {
  std::vector<ReproducedCell> results(cells.size());
  std::vector<bool> done(cells.size(), false);
  for (std::size_t first = 0; first < cells.size(); ++first) {
    if (done[first]) continue;
    const Measured measured = measure(variant_of(cells[first], options), chooses(cells, cells[first], options),
                                      training, test, options, counter);
    for (std::size_t i = first; i < cells.size(); ++i) {
      if (done[i] || !same_variant(cells[first], cells[i])) continue;
      done[i] = true;
      ReproducedCell& result = results[i];
      result.paper = cells[i];
      result.allowance = allowance_of(cells[i]);
      if (measured.best && cells[i].rate == PaperRate::kBest) {
        result.best = number_of(*measured.best);
        result.best->chosen = measured.chosen;
        result.best->test_labels = true;
        result.candidates = measured.candidates;
        compare(cells[i], result.allowance, *result.best);
      }
      if (options.standard_rates || !result.best) {
        result.standard = number_of(measured.standard);
        compare(cells[i], result.allowance, *result.standard);
      }
    }
  }
  return results;
}

std::size_t count_runs(std::span<const PaperCell> cells, std::size_t splits, const ReproduceOptions& options) {
  std::size_t runs = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto before = cells.first(i);
    if (std::any_of(before.begin(), before.end(), [&](const PaperCell& c) { return same_variant(c, cells[i]); })) {
      continue;
    }
    const Variant variant = variant_of(cells[i], options);
    if (!chooses(cells, cells[i], options)) {
      runs += splits;
    } else if (has_learning_rate(variant.method)) {
      runs += splits * sweep_size(variant, paper_rates());
    } else {
      runs += splits * (1 + kPaperCosts.size());
    }
  }
  return runs;
}

std::vector<ReproducedCell> reproduce_episodes(std::span<const PaperCell> cells, const FeatureSet& novel,
                                               const ReproduceOptions& options, const ProgressCallback& progress) {
  std::vector<ReproducedCell> results;
  EpisodesOptions protocol = options.episodes;
  protocol.recipe = options.recipe;
  protocol.seed = options.seed;
  if (protocol.cached_runs.find) protocol.data_name = content_checksum(novel);
  const std::size_t episodes = protocol.episodes * protocol.seeds;
  std::map<std::string, std::pair<std::optional<EpisodesResult>, std::optional<EpisodesResult>>> measured;
  std::map<std::string, std::vector<Candidate>> candidates;
  std::map<std::string, double> rates;
  for (const PaperCell& cell : cells) {
    auto& [best, standard] = measured[cell.method];
    if (!best && !standard) {
      if (options.best_rates) {
        rates[cell.method] = choose_rate(novel, protocol, cell, progress, candidates[cell.method]);
        best = run_episodes(novel, protocol, cell, rates[cell.method], progress);
      }
      if (options.standard_rates) standard = run_episodes(novel, protocol, cell, std::nullopt, progress);
    }
    ReproducedCell result;
    result.paper = cell;
    result.allowance = allowance_of(cell, episodes);
    result.candidates = candidates[cell.method];
    if (best) {
      result.best = OurNumber{metric_of(*best, cell.metric), 0.0, 0.0, false, true, {}, {}, {}};
      result.best->chosen = fmt::format("lr {}", rates[cell.method]);
      compare(cell, result.allowance, *result.best);
    }
    if (standard) {
      result.standard = OurNumber{metric_of(*standard, cell.metric), 0.0, 0.0, false, false, {}, {}, {}};
      compare(cell, result.allowance, *result.standard);
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::optional<GainByShots> gain_of(std::span<const ReproducedCell> cells) {
  const ReproducedCell* baseline = nullptr;
  const ReproducedCell* ibm2 = nullptr;
  for (const ReproducedCell& cell : cells) {
    if (!cell.standard) continue;
    if (cell.paper.method == "baseline") baseline = &cell;
    if (cell.paper.method == "ibm2") ibm2 = &cell;
  }
  if (baseline == nullptr || ibm2 == nullptr) return std::nullopt;
  return GainByShots{baseline->paper.features, baseline->paper.shots,
                     class_gain(baseline->standard->recall, ibm2->standard->recall)};
}

bool ReproduceReport::uses_test_labels() const {
  return std::any_of(cells.begin(), cells.end(), [](const ReproducedCell& cell) { return cell.best.has_value(); });
}

std::size_t ReproduceReport::compared() const {
  std::size_t count = 0;
  for (const ReproducedCell& cell : cells) {
    if (cell.allowance) count += (cell.best ? 1U : 0U) + (cell.standard ? 1U : 0U);
  }
  return count;
}

std::size_t ReproduceReport::outside() const {
  std::size_t count = 0;
  for (const ReproducedCell& cell : cells) {
    if (cell.best && cell.best->outside) ++count;
    if (cell.standard && cell.standard->outside) ++count;
  }
  return count;
}

}  // namespace annulus
