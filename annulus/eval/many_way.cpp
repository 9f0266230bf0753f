// Runs every method on every draw, and keeps the test labels to itself.
#include "annulus/eval/many_way.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/method.h"
#include "annulus/eval/metrics.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsPerBlock = 4096;  // test rows that are widened and classified at once

// Where rows come from; one set may play both parts.
struct Source {
  const FeatureSet& train;
  const FeatureSet& test;
  std::function<Split(const ShotOptions&)> draw;
  std::vector<std::int32_t> class_map;  // class index of `test` -> of `train`
};

void check_options(const ManyWayOptions& options, std::size_t dimension) {
  if (options.shots.empty()) fail(ErrorKind::kUsage, "expected at least one number of shots, found none");
  if (options.subsets == 0) fail(ErrorKind::kUsage, "expected at least one subset, found 0");
  check_methods(options.methods, options.base, dimension);
}

double test_accuracy(const FittedMethod& method, const Source& source, std::span<const std::uint32_t> query,
                     const ProgressCallback& progress) {
  std::vector<std::int32_t> predicted;
  std::vector<std::int32_t> truth = source.test.labels_of(query);
  for (std::int32_t& label : truth) label = source.class_map[static_cast<std::size_t>(label)];
  predicted.reserve(query.size());
  Matrix<float> block(std::min(kRowsPerBlock, query.size()), source.test.dimension());
  for (std::size_t first = 0; first < query.size(); first += kRowsPerBlock) {
    report(progress, {"test", first, query.size(), {}});
    const auto rows = query.subspan(first, std::min(kRowsPerBlock, query.size() - first));
    const auto view = block.view().rows_at(0, rows.size());
    source.test.copy_rows(rows, view);
    const auto classes = method.predict(view);
    predicted.insert(predicted.end(), classes.begin(), classes.end());
  }
  return accuracy_percent(predicted, truth);
}

ManyWayRun run_method(const Method& method, const Source& source, const Split& split, const LabelledRows& support,
                      const MethodContext& context, const ProgressCallback& progress) {
  ManyWayRun run;
  run.seed = split.seed;
  run.support_rows = split.support.size();
  run.query_rows = split.query.size();
  const auto start = std::chrono::steady_clock::now();
  const FittedMethod fitted = method.fit(support, context, progress);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.epsilon = fitted.epsilon;
  run.accuracy = test_accuracy(fitted, source, split.query, progress);
  return run;
}

// Counts runs; what happens inside the current run is told by the detail.
ProgressCallback progress_of_run(const ProgressCallback& progress, const std::string& stage, std::size_t done,
                                 std::size_t total) {
  if (!progress) return {};
  return [&progress, stage, done, total](const Progress& inner) {
    std::string detail = inner.stage;
    if (inner.total != 0) detail += fmt::format(" {}/{}", inner.done, inner.total);
    if (!inner.detail.empty()) detail += ", " + inner.detail;
    return progress({stage, done, total, detail});
  };
}

ManyWayReport evaluate(const Source& source, const ManyWayOptions& options, const ProgressCallback& progress) {
  check_options(options, source.train.dimension());
  // Every draw is tried first, so that a class with too few rows is reported before hours of training.
  for (const std::size_t shots : options.shots) {
    if (source.draw({shots, options.seed}).query.empty()) {
      fail(ErrorKind::kInput, "{}: expected rows to test on, but all {} rows are training rows", source.test.source(),
           source.test.rows());
    }
  }

  ManyWayReport result{{}, source.train.classes(), source.train.dimension()};
  const std::size_t total = options.shots.size() * options.subsets * options.methods.size();
  std::size_t done = 0;
  for (const std::size_t shots : options.shots) {
    const std::size_t first = result.results.size();
    for (const std::string& name : options.methods) result.results.push_back({name, shots, 0.0, 0.0, {}});
    for (std::size_t subset = 0; subset < options.subsets; ++subset) {
      const Split split = source.draw({shots, options.seed + subset});
      const LabelledRows support = gather(source.train, split.support);
      Recipe recipe = options.recipe;
      set_seed(recipe, split.seed + options.training_seed);
      for (std::size_t m = 0; m < options.methods.size(); ++m, ++done) {
        const std::string stage =
            fmt::format("{}, {}, subset {}/{}", options.methods[m],
                        shots == 0 ? "all rows" : fmt::format("k={}", shots), subset + 1, options.subsets);
        result.results[first + m].runs.push_back(run_method(method_named(options.methods[m]), source, split, support,
                                                            {recipe, options.base},
                                                            progress_of_run(progress, stage, done, total)));
      }
    }
  }
  for (ManyWayResult& entry : result.results) {
    std::vector<double> accuracies;
    for (const ManyWayRun& run : entry.runs) accuracies.push_back(run.accuracy);
    const Summary summary = summarize(accuracies);
    entry.accuracy_mean = summary.mean;
    entry.accuracy_std = summary.standard_deviation;
  }
  return result;
}

// Training and test rows are of the same set.
ManyWayReport evaluate_one(const FeatureSet& set, std::function<Split(const ShotOptions&)> draw,
                           const ManyWayOptions& options, const ProgressCallback& progress) {
  std::vector<std::int32_t> same(set.classes());
  std::iota(same.begin(), same.end(), 0);
  return evaluate({set, set, std::move(draw), std::move(same)}, options, progress);
}

}  // namespace

ManyWayReport evaluate_many_way(const FeatureSet& set, const ManyWayOptions& options,
                                const ProgressCallback& progress) {
  return evaluate_one(
      set, [&set](const ShotOptions& shots) { return draw_split(set, shots); }, options, progress);
}

ManyWayReport evaluate_across_groups(const FeatureSet& set, std::span<const std::int32_t> groups,
                                     const ManyWayOptions& options, const ProgressCallback& progress) {
  if (groups.size() != set.rows()) {
    fail(ErrorKind::kUsage, "expected a group for each of the {} rows, found {}", set.rows(), groups.size());
  }
  const auto draw = [&set, groups](const ShotOptions& shots) { return draw_groups(set, groups, shots); };
  return evaluate_one(set, draw, options, progress);
}

ManyWayReport evaluate_many_way(const FeatureSet& train, const FeatureSet& test, const ManyWayOptions& options,
                                const ProgressCallback& progress) {
  if (train.dimension() != test.dimension()) {
    fail(ErrorKind::kInput, "{}: expected features of {} numbers as in {}, found {}", test.source(), train.dimension(),
         train.source(), test.dimension());
  }
  if (!test.labelled()) {
    fail(ErrorKind::kInput, "{}: expected labels to test against, found only features", test.source());
  }
  std::vector<std::uint32_t> all(test.rows());
  std::iota(all.begin(), all.end(), 0U);
  const auto draw = [&train, &all](const ShotOptions& shots) {
    Split split = draw_support(train, shots);
    split.query = all;
    return split;
  };
  return evaluate({train, test, draw, map_classes(test, train.class_names())}, options, progress);
}

}  // namespace annulus
