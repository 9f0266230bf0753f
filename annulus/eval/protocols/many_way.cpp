// Runs every method on every split. Methods never see the test labels.
#include "annulus/eval/protocols/many_way.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/eval/metrics/metrics.h"
#include "annulus/kernels/row_range.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsPerBlock = 4096;  // test examples that are converted and classified at once
constexpr std::size_t kScoresPerBlock = std::size_t{4} << 20;  // at most, with many classes
constexpr std::size_t kShownConfusions = 20;

// Where examples come from; one set may be both.
struct Source {
  const FeatureSet& train;
  const FeatureSet& test;
  std::function<Split(const ShotOptions&)> draw;
  std::vector<std::int32_t> class_map;  // class index of `test` -> of `train`
};

void check_options(const ManyWayOptions& options, std::size_t dimension) {
  if (options.splits.empty()) {
    if (options.shots.empty()) fail(ErrorKind::kUsage, "expected at least one number of shots, found none");
    if (options.split_count == 0) fail(ErrorKind::kUsage, "expected at least one split, found 0");
  }
  check_methods(options.methods, options.base, dimension);
  check_reference(options.methods, options.against);
}

std::vector<std::int32_t> truth_of(const Source& source, std::span<const std::uint32_t> query) {
  std::vector<std::int32_t> truth = source.test.labels_of(query);
  for (std::int32_t& label : truth) label = source.class_map[static_cast<std::size_t>(label)];
  return truth;
}

MetricResult test(const FittedMethod& method, const Source& source, std::span<const std::uint32_t> query,
                  const ProgressCallback& progress) {
  const std::size_t classes = source.train.classes();
  const std::vector<std::int32_t> truth = truth_of(source, query);
  const std::size_t most = std::clamp<std::size_t>(kScoresPerBlock / classes, 64, kRowsPerBlock);
  Matrix<float> block(std::min(most, query.size()), source.test.dimension());
  const bool scored = static_cast<bool>(method.predict_and_score);
  Matrix<float> scores(scored ? block.rows() : 0, scored ? classes : 0);
  MetricAccumulator metrics(classes);
  for (std::size_t first = 0; first < query.size(); first += most) {
    report(progress, {"test", first, query.size(), {}});
    const auto rows = query.subspan(first, std::min(most, query.size() - first));
    const auto view = block.view().rows_at(0, rows.size());
    source.test.copy_rows(rows, view);
    for (std::size_t i = 0; i < rows.size(); ++i) bring_into_range(view.row(i));
    const auto block_scores = scored ? scores.view().rows_at(0, rows.size()) : MatrixView<float>();
    const auto predicted = scored ? method.predict_and_score(view, block_scores) : method.predict(view);
    metrics.add(rows, std::span(truth).subspan(first, rows.size()), predicted, block_scores, method.probabilities);
  }
  return metrics.result();
}

// A method that sees all test examples at once.
void test_together(const Method& method, const Source& source, std::span<const std::uint32_t> query,
                   const LabelledExamples& support, const MethodContext& context, const ProgressCallback& progress,
                   ManyWayRun& run) {
  const LabelledExamples queries = gather(source.test, query);
  const auto start = now();
  const QueryScores all = method.score_queries(support, queries.features.view(), context, progress);
  run.seconds = seconds_since(start);
  MetricAccumulator metrics(source.train.classes());
  metrics.add(query, truth_of(source, query), best_classes<float>(all.scores.view()), all.scores.view(),
              all.probabilities);
  run.metrics = metrics.result();
  run.accuracy = run.metrics.accuracy;
}

ManyWayRun run_method(const Method& method, const Source& source, const Split& split, const LabelledExamples& support,
                      const MethodContext& context, const ProgressCallback& progress) {
  ManyWayRun run;
  run.seed = split.seed;
  run.support_examples = split.support.size();
  run.query_examples = split.query.size();
  if (method.transductive()) {
    test_together(method, source, split.query, support, context, progress, run);
    return run;
  }
  const auto start = now();
  FittedMethod fitted = method.fit(support, context, progress);
  run.seconds = seconds_since(start);
  run.epsilon = fitted.epsilon;
  run.search = std::move(fitted.search);
  run.metrics = test(fitted, source, split.query, progress);
  run.accuracy = run.metrics.accuracy;
  return run;
}

std::string run_key(const ManyWayOptions& options, const std::string& name, const Split& split, const Recipe& recipe) {
  std::map<std::string, std::string> parts = describe(recipe);
  parts["protocol"] = "many-way";
  parts["data"] = options.data_name;
  parts["split"] = split_checksum(split);
  parts["split_seed"] = std::to_string(split.seed);
  parts["training_seed"] = std::to_string(options.training_seed);
  parts["method"] = name;
  return run_key_of(parts);
}

// Counts runs; the detail describes the progress inside the current run.
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

// All splits are drawn before anything is trained: a class with too few examples is reported before hours of training.
std::vector<Split> all_splits(const Source& source, const ManyWayOptions& options) {
  std::vector<Split> splits = options.splits;
  if (splits.empty()) {
    for (const std::size_t shots : options.shots) {
      for (std::size_t s = 0; s < options.split_count; ++s) {
        splits.push_back(source.draw({shots, options.seed + s}));
        splits.back().shots = shots;
      }
    }
  }
  for (Split& split : splits) {
    if (options.query_balance) {
      split.query = balanced_queries(split.query, source.test.labels(), *options.query_balance, split.seed);
    }
    if (split.query.empty()) {
      fail(ErrorKind::kInput, "{}: expected test examples, but all {} examples are training examples",
           source.test.source(), source.test.rows());
    }
  }
  return splits;
}

// Means over the runs of a method at a number of shots.
void sum_up(ManyWayResult& entry) {
  std::vector<double> accuracies;
  std::vector<double> top5;
  std::vector<double> errors;
  const auto count = static_cast<double>(entry.runs.size());
  entry.recall.assign(entry.runs.front().metrics.recall.size(), 0.0);
  for (const ManyWayRun& run : entry.runs) {
    accuracies.push_back(run.accuracy);
    if (run.metrics.top5) top5.push_back(*run.metrics.top5);
    if (run.metrics.ece) errors.push_back(*run.metrics.ece);
    entry.macro_mean += run.metrics.macro / count;
    for (std::size_t c = 0; c < entry.recall.size(); ++c) entry.recall[c] += run.metrics.recall[c] / count;
    if (entry.confidence.empty()) entry.confidence.resize(run.metrics.confidence.size());
    for (std::size_t b = 0; b < run.metrics.confidence.size(); ++b) {
      entry.confidence[b].confidence += run.metrics.confidence[b].confidence;
      entry.confidence[b].correct += run.metrics.confidence[b].correct;
      entry.confidence[b].count += run.metrics.confidence[b].count;
    }
  }
  const Summary summary = summarize(accuracies);
  entry.accuracy_mean = summary.mean;
  entry.accuracy_std = summary.standard_deviation;
  if (!top5.empty()) entry.top5_mean = summarize(top5).mean;
  if (!errors.empty()) entry.ece_mean = summarize(errors).mean;
  std::vector<double> tested;
  std::copy_if(entry.recall.begin(), entry.recall.end(), std::back_inserter(tested),
               [](double value) { return !std::isnan(value); });
  entry.class_interval = interval_of_mean(tested);
}

std::string path_of(const FeatureSet& set, std::size_t row) {
  return set.paths().empty() ? std::string() : set.paths()[row];
}

// The most frequent confusions over all runs, with example images where the features have paths.
void name_confusions(ManyWayResult& entry, const Source& source, std::span<const Split> splits) {
  std::vector<Confusion> all;
  std::vector<std::size_t> rows(source.train.classes(), 0);  // test examples of each class, over all runs
  for (const ManyWayRun& run : entry.runs) {
    all.insert(all.end(), run.metrics.confusions.begin(), run.metrics.confusions.end());
  }
  for (const Split& split : splits) {
    for (const std::uint32_t row : split.query) {
      const auto label = static_cast<std::size_t>(source.test.labels()[row]);
      ++rows[static_cast<std::size_t>(source.class_map[label])];
    }
  }
  all = merge_confusions(std::move(all));
  all.resize(std::min(all.size(), kShownConfusions));
  for (const Confusion& pair : all) {
    NamedConfusion named{pair, 0.0, path_of(source.test, pair.example), {}};
    named.fraction =
        100.0 * static_cast<double>(pair.count) / static_cast<double>(rows[static_cast<std::size_t>(pair.truth)]);
    for (const std::uint32_t row : splits.front().support) {
      if (source.train.labels()[row] != pair.predicted) continue;
      named.predicted_example = path_of(source.train, row);
      break;
    }
    entry.confusions.push_back(std::move(named));
  }
}

// Every method against the reference method, paired by class.
void compare_methods(ManyWayReport& report, std::size_t first, const ManyWayOptions& options) {
  const auto& methods = options.methods;
  const std::string against = reference_method(methods, options.against);
  const auto position = static_cast<std::size_t>(std::find(methods.begin(), methods.end(), against) - methods.begin());
  const ManyWayResult& reference = report.results[first + position];
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (m == position) continue;
    const ManyWayResult& other = report.results[first + m];
    std::vector<double> ours;
    std::vector<double> theirs;
    for (std::size_t c = 0; c < other.recall.size(); ++c) {
      if (std::isnan(other.recall[c]) || std::isnan(reference.recall[c])) continue;
      ours.push_back(other.recall[c]);
      theirs.push_back(reference.recall[c]);
    }
    report.comparisons.push_back({other.shots, other.method, against, compare_pairs(ours, theirs, options.seed)});
  }
}

std::string shots_words(std::size_t shots) { return shots == 0 ? "all examples" : fmt::format("k={}", shots); }

// The position of a split among those with the same number of shots: "2/3".
std::string place_among_shots(std::span<const Split> splits, std::size_t index) {
  const auto same = [&](const Split& split) { return split.shots == splits[index].shots; };
  const auto before = std::count_if(splits.begin(), splits.begin() + static_cast<std::ptrdiff_t>(index), same);
  return fmt::format("{}/{}", before + 1, std::count_if(splits.begin(), splits.end(), same));
}

// Every method on every split, method by method within a split; cached runs are read, the others are computed.
std::vector<ManyWayRun> all_runs(const Source& source, std::span<const Split> splits, const ManyWayOptions& options,
                                 const ProgressCallback& progress) {
  const std::size_t total = splits.size() * options.methods.size();
  std::size_t finished = 0;
  std::size_t gathered = splits.size();
  LabelledExamples support;
  const auto run = [&](std::size_t index, const std::string& name, const Recipe& recipe) {
    if (gathered != index) support = gather(source.train, splits[index].support);
    gathered = index;
    const std::string stage =
        fmt::format("{}, {}, split {}", name, shots_words(splits[index].shots), place_among_shots(splits, index));
    return run_method(method_named(name), source, splits[index], support, {recipe, options.base},
                      progress_of_run(progress, stage, finished, total));
  };
  std::vector<CachedRun<ManyWayRun>> wanted;
  for (std::size_t index = 0; index < splits.size(); ++index) {
    Recipe recipe = options.recipe;
    set_seed(recipe, splits[index].seed + options.training_seed);
    for (const std::string& name : options.methods) {
      wanted.push_back({options.cached_runs.empty() ? "" : run_key(options, name, splits[index], recipe),
                        [&run, index, &name, recipe] { return run(index, name, recipe); },
                        options.cached_runs.empty() ? 0.0 : static_cast<double>(splits[index].support.size())});
    }
  }
  return cached_runs(options.cached_runs, wanted, [&](std::size_t count) {
    finished = count;
    if (!options.cached_runs.empty()) report(progress, {fmt::format("{} runs", total), finished, total, {}});
  });
}

ManyWayReport evaluate(const Source& source, const ManyWayOptions& options, const ProgressCallback& progress) {
  check_options(options, source.train.dimension());
  ManyWayReport result{{}, source.train.classes(), source.train.dimension()};
  result.class_names.assign(source.train.class_names().begin(), source.train.class_names().end());
  result.splits = all_splits(source, options);
  result.query_balance = options.query_balance;
  std::vector<ManyWayRun> runs = all_runs(source, result.splits, options, progress);
  auto next = runs.begin();
  for (auto begin = result.splits.begin(); begin != result.splits.end();) {
    const auto end = std::find_if(begin, result.splits.end(), [&](const Split& s) { return s.shots != begin->shots; });
    const std::span<const Split> splits(begin, end);
    const std::size_t first = result.results.size();
    for (const std::string& name : options.methods) result.results.push_back({name, begin->shots});
    for (std::size_t i = 0; i < splits.size() * options.methods.size(); ++i, ++next) {
      result.results[first + i % options.methods.size()].runs.push_back(std::move(*next));
    }
    for (std::size_t m = 0; m < options.methods.size(); ++m) {
      sum_up(result.results[first + m]);
      name_confusions(result.results[first + m], source, splits);
    }
    compare_methods(result, first, options);
    begin = end;
  }
  return result;
}

// Training and test examples come from the same set.
ManyWayReport evaluate_one(const FeatureSet& set, std::function<Split(const ShotOptions&)> draw,
                           const ManyWayOptions& options, const ProgressCallback& progress) {
  std::vector<std::int32_t> same(set.classes());
  std::iota(same.begin(), same.end(), 0);
  return evaluate({set, set, std::move(draw), std::move(same)}, options, progress);
}

}  // namespace

std::string split_checksum(const Split& split) {
  Sha256 hash;
  const std::uint64_t supports = split.support.size();
  hash.update(std::as_bytes(std::span(&supports, 1)));
  hash.update(std::as_bytes(std::span(split.support)));
  hash.update(std::as_bytes(std::span(split.query)));
  return hash.finish_hex();
}

ManyWayReport evaluate_many_way(const FeatureSet& set, const ManyWayOptions& options,
                                const ProgressCallback& progress) {
  return evaluate_one(
      set, [&set](const ShotOptions& shots) { return draw_split(set, shots); }, options, progress);
}

ManyWayReport evaluate_across_groups(const FeatureSet& set, std::span<const std::int32_t> groups,
                                     const ManyWayOptions& options, const ProgressCallback& progress) {
  if (groups.size() != set.rows()) {
    fail(ErrorKind::kUsage, "expected a group for each of the {} examples, found {}", set.rows(), groups.size());
  }
  const auto draw = [&set, groups](const ShotOptions& shots) { return draw_groups(set, groups, shots); };
  return evaluate_one(set, draw, options, progress);
}

ManyWayReport evaluate_many_way(const FeatureSet& train, const FeatureSet& test, const ManyWayOptions& options,
                                const ProgressCallback& progress) {
  if (train.dimension() != test.dimension()) {
    fail(ErrorKind::kInput, "{}: expected features of {} dimensions as in {}, found {}", test.source(),
         train.dimension(), train.source(), test.dimension());
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
