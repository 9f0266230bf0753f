// Runs variants draw by draw, on the draws of the many-way protocol.
#include "annulus/eval/variant.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/method.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

// One method, one draw.
ManyWayOptions one_run(std::size_t shots, std::size_t draw, const DrawOptions& draws, const std::string& method,
                       const Recipe& recipe) {
  ManyWayOptions options;
  options.shots = {shots};
  options.subsets = 1;
  options.seed = draws.seed + draw;
  options.methods = {method};
  options.recipe = recipe;
  options.cells = draws.cells;
  options.data_name = draws.data_name;
  return options;
}

ManyWayRun only_run(ManyWayReport report) { return std::move(report.results.front().runs.front()); }

double learning_rate_of(const Variant& variant) {
  if (!has_learning_rate(variant.method)) return 0.0;
  return variant.method == "baseline" ? variant.recipe.baseline.learning_rate
                                      : variant.recipe.final_training.learning_rate;
}

void add_run(ManyWayRun run, VariantScore& score) {
  const std::vector<double>& recall = run.tally.recall;
  if (score.runs.empty()) score.recall.assign(recall.size(), 0.0);
  for (std::size_t c = 0; c < recall.size(); ++c) score.recall[c] += recall[c];
  score.runs.push_back(std::move(run));
}

void sum_up(VariantScore& score) {
  std::vector<double> accuracies;
  for (double& recall : score.recall) recall /= static_cast<double>(score.runs.size());
  for (const ManyWayRun& run : score.runs) {
    accuracies.push_back(run.accuracy);
    score.epsilon += run.epsilon / static_cast<double>(score.runs.size());
    score.seconds += run.seconds / static_cast<double>(score.runs.size());
  }
  score.accuracy = summarize(accuracies);
}

std::string stage_of(const Variant& variant, std::size_t draw, std::size_t draws) {
  return fmt::format("{}, draw {}/{}", variant.name, draw + 1, draws);
}

}  // namespace

DrawSource draws_of_files(std::span<const FeatureSet> training, const FeatureSet& test, const DrawOptions& options) {
  std::vector<DrawOptions> of_draw(training.size(), options);
  if (options.cells.find) {
    const std::string tested = content_checksum(test);
    for (std::size_t draw = 0; draw < training.size(); ++draw) {
      of_draw[draw].data_name = fmt::format("training {} test {}", content_checksum(training[draw]), tested);
    }
  }
  return {training.size(), [training, &test, of_draw](std::size_t draw, const std::string& method, const Recipe& recipe,
                                                      const ProgressCallback& progress) {
            return only_run(
                evaluate_many_way(training[draw], test, one_run(0, draw, of_draw[draw], method, recipe), progress));
          }};
}

DrawSource draws_of_rows(const FeatureSet& set, std::size_t shots, std::size_t draws, const DrawOptions& options) {
  draw_split(set, {shots, options.seed});  // a class with too few rows is reported before hours of training
  return {draws, [&set, shots, options](std::size_t draw, const std::string& method, const Recipe& recipe,
                                        const ProgressCallback& progress) {
            return only_run(evaluate_many_way(set, one_run(shots, draw, options, method, recipe), progress));
          }};
}

DrawSource draws_of_groups(const FeatureSet& set, std::span<const std::int32_t> groups, std::size_t shots,
                           std::size_t draws, const DrawOptions& options) {
  return {
      draws, [&set, groups, shots, options](std::size_t draw, const std::string& method, const Recipe& recipe,
                                            const ProgressCallback& progress) {
        return only_run(evaluate_across_groups(set, groups, one_run(shots, draw, options, method, recipe), progress));
      }};
}

ProgressCallback RunCounter::next(const std::string& stage) {
  const std::size_t done = done_++;
  report(progress_, {stage, done, total_, {}});
  if (!progress_) return {};
  return [&progress = progress_, stage, done, total = total_](const Progress& inner) {
    return progress({stage, done, total, inner.detail});
  };
}

VariantScore score_variant(const DrawSource& source, const Variant& variant, RunCounter& counter) {
  VariantScore score;
  score.learning_rate = learning_rate_of(variant);
  for (std::size_t draw = 0; draw < source.draws; ++draw) {
    add_run(source.run(draw, variant.method, variant.recipe, counter.next(stage_of(variant, draw, source.draws))),
            score);
  }
  sum_up(score);
  return score;
}

const std::vector<double>& paper_rates() {
  static const std::vector<double> kRates{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0};
  return kRates;
}

bool has_learning_rate(const std::string& method) { return method_named(method).has_learning_rate; }

std::size_t sweep_size(const Variant& variant, const std::vector<double>& rates) {
  const auto own = std::count(rates.begin(), rates.end(), learning_rate_of(variant));
  return 1 + rates.size() - static_cast<std::size_t>(own);
}

RateSweep sweep_rates(const DrawSource& source, const Variant& variant, const std::vector<double>& rates,
                      RunCounter& counter) {
  RateSweep sweep;
  sweep.standard = score_variant(source, variant, counter);
  for (const double rate : rates) {
    if (rate == sweep.standard.learning_rate) {
      sweep.scores.push_back(sweep.standard);
      continue;
    }
    VariantScore score;
    score.learning_rate = rate;
    for (std::size_t draw = 0; draw < source.draws; ++draw) {
      Variant at_rate = variant;
      at_rate.name = fmt::format("{}, lr {}", variant.name, rate);
      set_learning_rate(at_rate.recipe, rate);
      if (variant.method == "ibm2") at_rate.recipe.epsilon = sweep.standard.runs[draw].epsilon;
      add_run(source.run(draw, at_rate.method, at_rate.recipe, counter.next(stage_of(at_rate, draw, source.draws))),
              score);
    }
    sum_up(score);
    sweep.scores.push_back(std::move(score));
  }
  for (std::size_t i = 1; i < sweep.scores.size(); ++i) {
    if (sweep.scores[i].accuracy.mean > sweep.scores[sweep.best].accuracy.mean) sweep.best = i;
  }
  return sweep;
}

}  // namespace annulus
