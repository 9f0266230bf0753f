// Folds of examples, groups of classes, and the trainings without them.
#include "annulus/learn/calibration/held_out.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/model/support_index.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/learn/transform/class_spread.h"

namespace annulus {
namespace {

constexpr std::uint32_t kFoldStream = 0xF01D;  // random stream that no training uses
constexpr std::uint32_t kGroupStream = 0xF01E;
constexpr std::size_t kMostRowFolds = 3;
constexpr std::size_t kMostLogits = std::size_t{1}
                                    << 22;  // of held-out examples, unless kEnoughHeldOut examples have more
constexpr std::size_t kFewClassGroups = 5;
constexpr std::size_t kMostQueries = 1000;  // known and unknown examples of one fold

std::vector<std::size_t> rows_where(std::size_t count, const std::function<bool(std::size_t)>& chosen) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (chosen(i)) rows.push_back(i);
  }
  return rows;
}

// The chosen examples with renumbered classes: `number` maps each class.
LabelledExamples gather_rows(const HoldOut& hold_out, std::span<const std::size_t> chosen,
                             std::span<const std::int32_t> number, std::size_t classes) {
  SupportSet rows = select_support(hold_out.support, chosen);
  for (std::int32_t& label : rows.labels) label = number[static_cast<std::size_t>(label)];
  LabelledExamples gathered{std::move(rows.features), std::move(rows.labels), classes, {}, std::move(rows.partition)};
  if (!hold_out.weights.empty()) {
    for (const std::size_t row : chosen) gathered.weights.push_back(hold_out.weights[row]);
  }
  return gathered;
}

// The weights of the examples that are on this process; empty: all count the same.
std::span<const float> own_weights(const LabelledExamples& rows) {
  const Slice own = rows.partition.own(rows.labels.size());
  return rows.weights.empty() ? std::span<const float>{} : std::span(rows.weights).subspan(own.first, own.count);
}

// Trains on the examples and counts the training for progress.
FitResult train_without(HoldOut& hold_out, LabelledExamples rows, const Recipe& recipe) {
  ProgressCallback counted;
  if (hold_out.progress) {
    counted = [&hold_out](const Progress& training) {
      return hold_out.progress({"calibrate", hold_out.done * training.total + training.done,
                                hold_out.trainings * training.total, training.detail});
    };
  }
  FitResult fit = hold_out.fit(std::move(rows), recipe, counted);
  ++hold_out.done;
  return fit;
}

Matrix<float> held_out_logits(const HoldOut& hold_out, const Head<float>& head, const SupportSet& rows,
                              std::size_t classes) {
  Matrix<float> logits(rows.rows(), classes);
  const TrainOptions& options = hold_out.recipe.final_training;
  shared_logits(*options.layout, head, rows.features.view(), logits.view(), options.threads);
  return logits;
}

// Scales weights to a mean of 1.
void make_mean_one(std::vector<float>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (float& weight : weights) {
    weight = static_cast<float>(static_cast<double>(weight) * static_cast<double>(weights.size()) / sum);
  }
}

// The group of each class, in a random order of the classes.
std::vector<std::size_t> group_classes(std::size_t classes, const ClassFold& fold, std::uint64_t seed) {
  const RandomStream stream{seed, RandomUse::kShuffle, kGroupStream};
  std::vector<std::size_t> group(classes);
  std::size_t place = 0;
  const auto number = static_cast<std::uint32_t>(fold.groups);
  for (const std::uint32_t c : random_permutation(stream, number, classes)) group[c] = place++ % fold.groups;
  return group;
}

// The recipe with the metric of the given examples, all of one group of classes, in the place of one that is learnt.
Recipe recipe_in_metric_of(const HoldOut& hold_out, std::span<const std::size_t> examples, std::size_t classes) {
  Recipe recipe = hold_out.recipe;
  std::vector<std::int32_t> same(classes);
  std::iota(same.begin(), same.end(), 0);
  LabelledExamples rows = gather_rows(hold_out, examples, same, classes);
  const FeatureTransform input =
      learn_transform(rows.features.view(), recipe.transform, own_weights(rows), rows.partition);
  transform_rows(input, rows.features.view());
  const MetricSpace space = enter_metric_space(rows, input, recipe.metric, recipe.final_training.threads);
  if (!space.any()) return recipe;
  recipe.metric.within_classes = false;
  recipe.metric.prior =
      std::make_shared<const MetricPrior>(MetricPrior{space.transform.metrics.front(), input.power, {}});
  return recipe;
}

// Examples that a head has predicted.
struct Queried {
  const SupportSet& rows;
  Matrix<float> logits;
  std::vector<std::int32_t> predicted;
};

Queried query(const HoldOut& hold_out, const ClassTraining& training, const SupportSet& rows) {
  Queried queried{rows, held_out_logits(hold_out, training.fit.head, rows, training.classes), {}};
  queried.predicted = predicted_classes(queried.logits.view());
  return queried;
}

// The training examples of the predicted classes, for comparison.
SupportIndex learnt_rows(const HoldOut& hold_out, const ClassTraining& training, const Queried& known,
                         const Queried& unknown) {
  std::vector<bool> wanted(training.classes, false);
  for (const Queried* queried : {&known, &unknown}) {
    for (const std::int32_t label : queried->predicted) wanted[static_cast<std::size_t>(label)] = true;
  }
  const std::vector<std::size_t> places = rows_to_index(training.labels, wanted);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : places) chosen.push_back(training.learnt[place]);
  SupportSet rows = fetch_support(hold_out.support, chosen);
  for (std::size_t i = 0; i < places.size(); ++i) rows.labels[i] = training.labels[places[i]];
  const int threads = hold_out.recipe.final_training.threads;
  SupportIndex index(training.fit.head.transform, std::move(rows.features), rows.labels, threads);
  index.set_axes(class_spread_axes(index.rows(), rows.labels, threads), threads);
  return index;
}

std::vector<OpenSetFeatures> open_set_features_of(const SupportIndex& learnt, Queried& queried, double temperature,
                                                  int threads) {
  const std::vector<ClassNearness> nearness =
      learnt.near_class(queried.rows.features.view(), queried.predicted, threads);
  std::vector<OpenSetFeatures> open_set_features;
  for (std::size_t i = 0; i < nearness.size(); ++i) {
    scale_row(queried.logits.row(i), static_cast<float>(1.0 / temperature));
    open_set_features.push_back(open_set_features_in(unknown_parts(queried.logits.row(i), nearness[i])));
  }
  return open_set_features;
}

std::size_t classes_with_rows(const HoldOutPlan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.counts.begin(), plan.counts.end(), [](std::size_t rows) { return rows > 0; }));
}

// Whether every head has at least two classes when a group is left out.
bool can_be_cut(std::size_t classes, std::size_t groups) {
  return groups > 0 && classes >= 2 + (classes + groups - 1) / groups;
}

std::vector<std::vector<std::uint32_t>> groups_of(const SupportSet& support) {
  std::vector<std::uint32_t> rows(support.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  return group_members(support.groups, rows);
}

// The number of groups that each class has examples in.
std::vector<std::size_t> groups_of_classes(const SupportSet& support,
                                           std::span<const std::vector<std::uint32_t>> groups, std::size_t classes) {
  std::vector<std::size_t> counts(classes, 0);
  std::vector<std::size_t> seen(classes, groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::uint32_t row : groups[group]) {
      const auto label = static_cast<std::size_t>(support.labels[row]);
      if (std::exchange(seen[label], group) != group) ++counts[label];
    }
  }
  return counts;
}

// At most kMostQueries of the rows, evenly spaced.
void thin(std::vector<std::size_t>& rows) {
  if (rows.size() <= kMostQueries) return;
  for (std::size_t i = 0; i < kMostQueries; ++i) rows[i] = rows[i * rows.size() / kMostQueries];
  rows.resize(kMostQueries);
}

}  // namespace

HoldOutPlan plan_hold_out(const SupportSet& support, std::size_t classes, std::uint64_t seed) {
  HoldOutPlan plan;
  plan.counts = class_counts(support.labels, classes);
  const auto groups = groups_of(support);
  const std::vector<std::size_t> class_groups = groups_of_classes(support, groups, classes);
  plan.shots = static_cast<double>(std::accumulate(class_groups.begin(), class_groups.end(), std::size_t{0})) /
               static_cast<double>(classes);
  plan.folds = std::min(kMostRowFolds, *std::max_element(class_groups.begin(), class_groups.end()));
  plan.held_out_folds = std::min(plan.folds, (plan.folds * kEnoughHeldOut + support.rows() - 1) / support.rows());
  const RandomStream stream{seed, RandomUse::kShuffle, kFoldStream};
  std::vector<std::size_t> next(classes);
  std::iota(next.begin(), next.end(),
            std::size_t{0});  // classes start in different folds, so that the folds have similar sizes
  plan.fold.assign(support.rows(), plan.held_out_folds);
  if (plan.folds < 2) return plan;
  std::size_t left = std::max(kEnoughHeldOut, kMostLogits / classes);
  const auto label_of = [&](std::uint32_t row) { return static_cast<std::size_t>(support.labels[row]); };
  Matrix<std::size_t> held_out(classes, plan.folds);  // groups of each class in each fold
  for (const std::uint32_t number : random_permutation(stream, 0, groups.size())) {
    const auto& group = groups[number];
    const auto first =
        std::find_if(group.begin(), group.end(), [&](std::uint32_t row) { return class_groups[label_of(row)] > 1; });
    if (first == group.end()) continue;
    const std::size_t fold = next[label_of(*first)]++ % plan.folds;
    if (fold >= plan.held_out_folds || left == 0) continue;
    std::set<std::size_t> labels;
    for (const std::uint32_t row : group) {
      // Of a class whose other groups are all in this fold, something has to be trained on.
      if (held_out(label_of(row), fold) + 1 >= class_groups[label_of(row)]) continue;
      plan.fold[row] = fold;
      labels.insert(label_of(row));
      left -= std::min<std::size_t>(left, 1);
    }
    for (const std::size_t label : labels) ++held_out(label, fold);
  }
  return plan;
}

bool lacks_pairs(const Recipe& recipe, const HoldOutPlan& plan) {
  return plan.folds == 2 && recipe.virtual_examples && recipe.metric.within_classes && recipe.metric.prior == nullptr;
}

HeldOutExamples hold_out_examples(HoldOut& hold_out, const HoldOutPlan& plan) {
  const SupportSet& support = hold_out.support;
  const std::size_t classes = plan.counts.size();
  // Where a fold's metric comes from one half of the classes, examples of the other half are held out.
  const bool by_halves = lacks_pairs(hold_out.recipe, plan);
  const std::vector<std::size_t> half = group_classes(classes, {2, 0, {}}, hold_out.recipe.final_training.seed);
  const auto half_of = [&](std::size_t row) { return half[static_cast<std::size_t>(support.labels[row])]; };
  HeldOutExamples held;
  held.rows = rows_where(support.rows(), [&](std::size_t i) {
    return plan.fold[i] < plan.held_out_folds && !(by_halves && half_of(i) == plan.fold[i]);
  });
  for (const std::size_t row : held.rows) {
    held.labels.push_back(support.labels[row]);
    if (!hold_out.weights.empty()) held.weights.push_back(hold_out.weights[row]);
  }
  make_mean_one(held.weights);
  held.logits = Matrix<float>(held.rows.size(), classes);
  std::vector<std::int32_t> same(classes);
  std::iota(same.begin(), same.end(), 0);
  for (std::size_t fold = 0; fold < plan.held_out_folds; ++fold) {
    const auto places = rows_where(held.rows.size(), [&](std::size_t i) { return plan.fold[held.rows[i]] == fold; });
    if (places.empty()) continue;
    const auto kept = rows_where(support.rows(), [&](std::size_t i) { return plan.fold[i] != fold; });
    const Recipe recipe =
        by_halves
            ? recipe_in_metric_of(
                  hold_out, rows_where(support.rows(), [&](std::size_t i) { return half_of(i) == fold; }), classes)
            : hold_out.recipe;
    const FitResult fit = train_without(hold_out, gather_rows(hold_out, kept, same, classes), recipe);
    std::vector<std::size_t> queried;
    for (const std::size_t place : places) queried.push_back(held.rows[place]);
    const Matrix<float> logits = held_out_logits(hold_out, fit.head, fetch_support(support, queried), classes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::copy(logits.row(i).begin(), logits.row(i).end(), held.logits.row(places[i]).begin());
    }
  }
  return held;
}

std::vector<ClassFold> plan_unknown_folds(const HoldOutPlan& plan) {
  const std::size_t classes = classes_with_rows(plan);
  const std::size_t groups = std::min(kFewClassGroups, classes);
  std::vector<ClassFold> folds;
  if (!can_be_cut(classes, groups)) return folds;
  for (std::size_t unknown_inputs = 0; folds.size() < groups && unknown_inputs < kEnoughHeldOut;) {
    folds.push_back({groups, folds.size(), std::nullopt});
    unknown_inputs += plan.fold.size() / groups;
  }
  return folds;
}

std::vector<ClassFold> plan_class_folds(const HoldOutPlan& plan) {
  std::vector<ClassFold> folds;
  const std::size_t classes = classes_with_rows(plan);
  std::size_t unknown_inputs = 0;
  for (const std::size_t groups : {std::size_t{2}, kFewClassGroups}) {
    if (!can_be_cut(classes, groups)) continue;
    for (std::size_t i = 0; i < groups && (folds.size() < 2 || unknown_inputs < kEnoughUnknown); ++i) {
      folds.push_back({groups, i, i % plan.held_out_folds});
      unknown_inputs += plan.fold.size() / groups;
    }
  }
  return folds;
}

std::optional<ClassTraining> train_without_classes(HoldOut& hold_out, const HoldOutPlan& plan, const ClassFold& fold) {
  const SupportSet& support = hold_out.support;
  const auto group = group_classes(plan.counts.size(), fold, hold_out.recipe.final_training.seed);
  const auto is_unknown = [&](std::size_t row) {
    return group[static_cast<std::size_t>(support.labels[row])] == fold.group;
  };
  std::vector<std::int32_t> number(group.size(), -1);
  std::size_t classes = 0;
  for (std::size_t c = 0; c < group.size(); ++c) {
    if (group[c] != fold.group && plan.counts[c] > 0) number[c] = static_cast<std::int32_t>(classes++);
  }
  const auto in_fold = [&](std::size_t row) { return fold.fold && plan.fold[row] == *fold.fold; };
  const auto kept = rows_where(support.rows(), [&](std::size_t i) { return !is_unknown(i) && !in_fold(i); });
  auto known = rows_where(support.rows(), [&](std::size_t i) { return !is_unknown(i) && in_fold(i); });
  auto unknown = rows_where(support.rows(), is_unknown);
  const std::vector<std::size_t> of_group = unknown;
  thin(known);
  thin(unknown);
  if (classes < 2 || (fold.fold && known.empty()) || unknown.empty()) {
    ++hold_out.done;
    return std::nullopt;
  }
  const ParallelLayout& layout = *hold_out.recipe.final_training.layout;
  if (classes < layout.class_ranks()) {
    fail(ErrorKind::kInput,
         "expected rows of at least {} classes in each half of them, as many as class ranks, found {}",
         layout.class_ranks(), classes);
  }
  const Recipe recipe = fold.fold && lacks_pairs(hold_out.recipe, plan)
                            ? recipe_in_metric_of(hold_out, of_group, plan.counts.size())
                            : hold_out.recipe;
  FitResult fit = train_without(hold_out, gather_rows(hold_out, kept, number, classes), recipe);
  std::vector<std::int32_t> labels;
  for (const std::size_t row : kept) labels.push_back(number[static_cast<std::size_t>(support.labels[row])]);
  return ClassTraining{
      std::move(fit), kept, std::move(labels), classes, fetch_support(support, known), fetch_support(support, unknown)};
}

OpenSetFold features_of_unknown(const HoldOut& hold_out, const ClassTraining& training, double temperature) {
  Queried known = query(hold_out, training, training.known);
  Queried unknown = query(hold_out, training, training.unknown);
  const SupportIndex learnt = learnt_rows(hold_out, training, known, unknown);
  const int threads = hold_out.recipe.final_training.threads;
  return {open_set_features_of(learnt, known, temperature, threads),
          open_set_features_of(learnt, unknown, temperature, threads)};
}

}  // namespace annulus
