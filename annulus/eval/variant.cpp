// Runs variants draw by draw, on the draws of the many-way protocol.
#include "annulus/eval/variant.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/method.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsPerBlock = 4096;  // test rows that are widened and classified at once

DrawRun run_draw(const FeatureSet& training, const FeatureSet& test, const Split& split, const std::string& method,
                 Recipe recipe, const ProgressCallback& progress) {
  set_seed(recipe, split.seed);
  const LabelledRows support = gather(training, split.support);
  const auto start = std::chrono::steady_clock::now();
  const FittedMethod fitted = method_named(method).fit(support, {recipe}, progress);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  DrawRun result = test_method(fitted, training, test, split.query, progress);
  result.run.seed = split.seed;
  result.run.epsilon = fitted.epsilon;
  result.run.seconds = seconds;
  result.run.support_rows = split.support.size();
  return result;
}

std::vector<std::uint32_t> all_rows(const FeatureSet& set) {
  std::vector<std::uint32_t> rows(set.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

double learning_rate_of(const Variant& variant) {
  if (!has_learning_rate(variant.method)) return 0.0;
  return variant.method == "baseline" ? variant.recipe.baseline.learning_rate
                                      : variant.recipe.final_training.learning_rate;
}

void add_run(DrawRun run, VariantScore& score) {
  if (score.runs.empty()) score.recall.assign(run.recall.size(), 0.0);
  for (std::size_t c = 0; c < run.recall.size(); ++c) score.recall[c] += run.recall[c];
  score.runs.push_back(run.run);
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

DrawSource draws_of_files(std::span<const FeatureSet> training, const FeatureSet& test, std::uint64_t seed) {
  for (const FeatureSet& set : training) {
    if (set.dimension() != test.dimension()) {
      fail(ErrorKind::kInput, "{}: expected features of {} numbers as in {}, found {}", set.source(), test.dimension(),
           test.source(), set.dimension());
    }
    for (const FeatureSet* const part : {&set, &test}) {
      if (!part->labelled()) fail(ErrorKind::kInput, "{}: expected labels, found only features", part->source());
    }
  }
  return {training.size(), [training, &test, seed](std::size_t draw, const std::string& method, const Recipe& recipe,
                                                   const ProgressCallback& progress) {
            Split split = draw_support(training[draw], {0, seed + draw});
            split.query = all_rows(test);
            return run_draw(training[draw], test, split, method, recipe, progress);
          }};
}

DrawSource draws_of_rows(const FeatureSet& set, std::size_t shots, std::size_t draws, std::uint64_t seed) {
  if (draw_split(set, {shots, seed}).query.empty()) {
    fail(ErrorKind::kInput, "{}: expected rows to test on, but all {} rows are training rows", set.source(),
         set.rows());
  }
  return {draws, [&set, shots, seed](std::size_t draw, const std::string& method, const Recipe& recipe,
                                     const ProgressCallback& progress) {
            return run_draw(set, set, draw_split(set, {shots, seed + draw}), method, recipe, progress);
          }};
}

DrawSource draws_of_groups(const FeatureSet& set, std::span<const std::int32_t> groups, std::size_t shots,
                           std::size_t draws, std::uint64_t seed) {
  return {draws, [&set, groups, shots, seed](std::size_t draw, const std::string& method, const Recipe& recipe,
                                             const ProgressCallback& progress) {
            return run_draw(set, set, draw_groups(set, groups, {shots, seed + draw}), method, recipe, progress);
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

bool has_learning_rate(const std::string& method) {
  return method == "baseline" || method == "ibm2" || method == "default";
}

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

DrawRun test_method(const FittedMethod& fitted, const FeatureSet& training, const FeatureSet& test,
                    std::span<const std::uint32_t> query, const ProgressCallback& progress) {
  const auto class_map = map_classes(test, training.class_names());
  std::vector<std::size_t> hits(training.classes(), 0);
  std::vector<std::size_t> rows(training.classes(), 0);
  Matrix<float> block(std::min(kRowsPerBlock, query.size()), test.dimension());
  for (std::size_t first = 0; first < query.size(); first += kRowsPerBlock) {
    report(progress, {"test", first, query.size(), {}});
    const auto part = query.subspan(first, std::min(kRowsPerBlock, query.size() - first));
    const auto view = block.view().rows_at(0, part.size());
    test.copy_rows(part, view);
    const auto classes = fitted.predict(view);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::int32_t truth = class_map[static_cast<std::size_t>(test.labels()[part[i]])];
      ++rows[static_cast<std::size_t>(truth)];
      if (classes[i] == truth) ++hits[static_cast<std::size_t>(truth)];
    }
  }
  DrawRun result;
  result.run.query_rows = query.size();
  std::size_t all_hits = 0;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    all_hits += hits[c];
    result.recall.push_back(rows[c] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                         : 100.0 * static_cast<double>(hits[c]) / static_cast<double>(rows[c]));
  }
  result.run.accuracy = 100.0 * static_cast<double>(all_hits) / static_cast<double>(query.size());
  return result;
}

}  // namespace annulus
