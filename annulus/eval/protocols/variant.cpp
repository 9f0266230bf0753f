// Runs variants of a method on the splits of the many-way protocol.
#include "annulus/eval/protocols/variant.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

// One method, one split.
ManyWayOptions one_run(std::size_t shots, std::size_t split, const SplitOptions& splits, const std::string& method,
                       const Recipe& recipe) {
  ManyWayOptions options;
  options.shots = {shots};
  options.split_count = 1;
  options.seed = splits.seed + split;
  options.methods = {method};
  options.recipe = recipe;
  options.cached_runs = splits.cached_runs;
  options.data_name = splits.data_name;
  return options;
}

ManyWayRun only_run(ManyWayReport report) { return std::move(report.results.front().runs.front()); }

double learning_rate_of(const Variant& variant) {
  const HeadTraining training = method_named(variant.method).trains_head;
  if (training == HeadTraining::kNone) return 0.0;
  return training == HeadTraining::kExamples ? variant.recipe.baseline.learning_rate
                                             : variant.recipe.final_training.learning_rate;
}

void add_run(ManyWayRun run, VariantScore& score) {
  const std::vector<double>& recall = run.metrics.recall;
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

std::string stage_of(const Variant& variant, std::size_t split, std::size_t splits) {
  return fmt::format("{}, split {}/{}", variant.name, split + 1, splits);
}

}  // namespace

SplitSource splits_of_files(std::span<const FeatureSet> training, const FeatureSet& test, const SplitOptions& options) {
  std::vector<SplitOptions> of_split(training.size(), options);
  if (options.cached_runs.find) {
    const std::string tested = content_checksum(test);
    for (std::size_t split = 0; split < training.size(); ++split) {
      of_split[split].data_name = fmt::format("training {} test {}", content_checksum(training[split]), tested);
    }
  }
  return {training.size(), [training, &test, of_split](std::size_t split, const std::string& method,
                                                       const Recipe& recipe, const ProgressCallback& progress) {
            return only_run(
                evaluate_many_way(training[split], test, one_run(0, split, of_split[split], method, recipe), progress));
          }};
}

SplitSource splits_of_examples(const FeatureSet& set, std::size_t shots, std::size_t splits,
                               const SplitOptions& options) {
  draw_split(set, {shots, options.seed});  // a class with too few examples is reported before hours of training
  return {splits, [&set, shots, options](std::size_t split, const std::string& method, const Recipe& recipe,
                                         const ProgressCallback& progress) {
            return only_run(evaluate_many_way(set, one_run(shots, split, options, method, recipe), progress));
          }};
}

SplitSource splits_of_groups(const FeatureSet& set, std::span<const std::int32_t> groups, std::size_t shots,
                             std::size_t splits, const SplitOptions& options) {
  return {
      splits, [&set, groups, shots, options](std::size_t split, const std::string& method, const Recipe& recipe,
                                             const ProgressCallback& progress) {
        return only_run(evaluate_across_groups(set, groups, one_run(shots, split, options, method, recipe), progress));
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

VariantScore score_variant(const SplitSource& source, const Variant& variant, RunCounter& counter) {
  VariantScore score;
  score.learning_rate = learning_rate_of(variant);
  for (std::size_t split = 0; split < source.splits; ++split) {
    add_run(source.run(split, variant.method, variant.recipe, counter.next(stage_of(variant, split, source.splits))),
            score);
  }
  sum_up(score);
  return score;
}

const std::vector<double>& paper_rates() {
  static const std::vector<double> kRates{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0};
  return kRates;
}

bool has_learning_rate(const std::string& method) { return method_named(method).has_learning_rate(); }

std::size_t sweep_size(const Variant& variant, const std::vector<double>& rates) {
  const auto own = std::count(rates.begin(), rates.end(), learning_rate_of(variant));
  return 1 + rates.size() - static_cast<std::size_t>(own);
}

RateSweep sweep_rates(const SplitSource& source, const Variant& variant, const std::vector<double>& rates,
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
    for (std::size_t split = 0; split < source.splits; ++split) {
      Variant at_rate = variant;
      at_rate.name = fmt::format("{}, lr {}", variant.name, rate);
      set_learning_rate(at_rate.recipe, rate);
      if (method_named(variant.method).trains_head == HeadTraining::kVirtualExamples)
        at_rate.recipe.epsilon = sweep.standard.runs[split].epsilon;
      add_run(source.run(split, at_rate.method, at_rate.recipe, counter.next(stage_of(at_rate, split, source.splits))),
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
