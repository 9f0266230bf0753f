// Folds of rows, groups of classes, and the trainings without them.
#include "annulus/learn/held_out.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/class_spread.h"
#include "annulus/learn/support_index.h"
#include "annulus/learn/unknown.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

constexpr std::uint32_t kFoldStream = 0xF01D;  // orders that no training uses
constexpr std::uint32_t kGroupStream = 0xF01E;
constexpr std::size_t kMostRowFolds = 3;
constexpr std::size_t kMostLogits = std::size_t{1} << 22;  // of held-out rows, unless kEnoughHeldOut rows have more
constexpr std::size_t kFewClassGroups = 5;
constexpr std::size_t kMostAskedRows = 1000;  // known and strange rows of one turn

std::vector<std::size_t> rows_where(std::size_t count, const std::function<bool(std::size_t)>& chosen) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < count; ++i) {
    if (chosen(i)) rows.push_back(i);
  }
  return rows;
}

// The chosen rows with their classes numbered anew: `number` of each class.
LabelledRows gather_rows(const HoldOut& hold_out, std::span<const std::size_t> chosen,
                         std::span<const std::int32_t> number, std::size_t classes) {
  SupportRows rows = select_support(hold_out.support, chosen);
  for (std::int32_t& label : rows.labels) label = number[static_cast<std::size_t>(label)];
  LabelledRows gathered{std::move(rows.features), std::move(rows.labels), classes, {}, std::move(rows.cut)};
  if (!hold_out.weights.empty()) {
    for (const std::size_t row : chosen) gathered.weights.push_back(hold_out.weights[row]);
  }
  return gathered;
}

// Trains on the rows and counts the training.
FitResult train_without(HoldOut& hold_out, LabelledRows rows) {
  ProgressCallback counted;
  if (hold_out.progress) {
    counted = [&hold_out](const Progress& training) {
      return hold_out.progress({"calibrate", hold_out.done * training.total + training.done,
                                hold_out.trainings * training.total, training.detail});
    };
  }
  FitResult fit = hold_out.refit(std::move(rows), hold_out.recipe, counted);
  ++hold_out.done;
  return fit;
}

Matrix<float> held_out_logits(const HoldOut& hold_out, const Head<float>& head, const SupportRows& rows,
                              std::size_t classes) {
  Matrix<float> logits(rows.rows(), classes);
  const TrainOptions& options = hold_out.recipe.final_training;
  shared_logits(options.share, head, rows.features.view(), logits.view(), options.threads);
  return logits;
}

// Scales weights to a mean of 1.
void make_mean_one(std::vector<float>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (float& weight : weights) {
    weight = static_cast<float>(static_cast<double>(weight) * static_cast<double>(weights.size()) / sum);
  }
}

// Which group each class is in, in a random order of the classes.
std::vector<std::size_t> group_classes(std::size_t classes, const ClassTurn& turn, std::uint64_t seed) {
  const RandomStream stream{seed, RandomUse::kShuffle, kGroupStream};
  std::vector<std::size_t> group(classes);
  std::size_t place = 0;
  const auto number = static_cast<std::uint32_t>(turn.groups);
  for (const std::uint32_t c : random_permutation(stream, number, classes)) group[c] = place++ % turn.groups;
  return group;
}

// Rows that a head was asked about, and what it said.
struct Asked {
  const SupportRows& rows;
  Matrix<float> logits;
  std::vector<std::int32_t> named;
};

Asked ask(const HoldOut& hold_out, const ClassTraining& training, const SupportRows& rows) {
  Asked asked{rows, held_out_logits(hold_out, training.fit.head, rows, training.classes), {}};
  asked.named = named_classes(asked.logits.view());
  return asked;
}

// The rows that a head learnt of the classes that it named, to compare with.
SupportIndex learnt_rows(const HoldOut& hold_out, const ClassTraining& training, const Asked& known,
                         const Asked& strange) {
  std::vector<bool> wanted(training.classes, false);
  for (const Asked* asked : {&known, &strange}) {
    for (const std::int32_t label : asked->named) wanted[static_cast<std::size_t>(label)] = true;
  }
  const std::vector<std::size_t> places = rows_to_index(training.labels, wanted);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : places) chosen.push_back(training.learnt[place]);
  SupportRows rows = fetch_support(hold_out.support, chosen);
  for (std::size_t i = 0; i < places.size(); ++i) rows.labels[i] = training.labels[places[i]];
  const int threads = hold_out.recipe.final_training.threads;
  SupportIndex index(training.fit.head.conditioning, std::move(rows.features), rows.labels, threads);
  index.set_axes(class_spread_axes(index.rows(), rows.labels, threads), threads);
  return index;
}

std::vector<Evidence> evidence_of(const SupportIndex& learnt, Asked& asked, double temperature, int threads) {
  const std::vector<ClassNearness> nearness = learnt.near_class(asked.rows.features.view(), asked.named, threads);
  std::vector<Evidence> evidence;
  for (std::size_t i = 0; i < nearness.size(); ++i) {
    scale_row(asked.logits.row(i), static_cast<float>(1.0 / temperature));
    evidence.push_back(evidence_in(unknown_parts(asked.logits.row(i), nearness[i])));
  }
  return evidence;
}

std::size_t classes_with_rows(const HoldOutPlan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.counts.begin(), plan.counts.end(), [](std::size_t rows) { return rows > 0; }));
}

// Whether every head has two classes to tell apart when a group is left out.
bool can_be_cut(std::size_t classes, std::size_t groups) {
  return groups > 0 && classes >= 2 + (classes + groups - 1) / groups;
}

// At most kMostAskedRows of the rows, evenly spaced.
void thin(std::vector<std::size_t>& rows) {
  if (rows.size() <= kMostAskedRows) return;
  for (std::size_t i = 0; i < kMostAskedRows; ++i) rows[i] = rows[i * rows.size() / kMostAskedRows];
  rows.resize(kMostAskedRows);
}

}  // namespace

HoldOutPlan plan_hold_out(const SupportRows& support, std::size_t classes, std::uint64_t seed) {
  HoldOutPlan plan;
  plan.counts = class_counts(support.labels, classes);
  plan.folds = std::min(kMostRowFolds, *std::max_element(plan.counts.begin(), plan.counts.end()));
  plan.turns = std::min(plan.folds, (plan.folds * kEnoughHeldOut + support.rows() - 1) / support.rows());
  const RandomStream stream{seed, RandomUse::kShuffle, kFoldStream};
  std::vector<std::size_t> next(classes);
  std::iota(next.begin(), next.end(), std::size_t{0});  // classes start in different folds, so that these are even
  plan.fold.assign(support.rows(), plan.turns);
  if (plan.folds < 2) return plan;
  std::size_t left = std::max(kEnoughHeldOut, kMostLogits / classes);
  for (const std::uint32_t row : random_permutation(stream, 0, support.rows())) {
    const auto label = static_cast<std::size_t>(support.labels[row]);
    if (plan.counts[label] < 2) continue;
    const std::size_t number = next[label]++ % plan.folds;
    if (number >= plan.turns || left == 0) continue;
    plan.fold[row] = number;
    --left;
  }
  return plan;
}

HeldOutRows hold_out_rows(HoldOut& hold_out, const HoldOutPlan& plan) {
  const SupportRows& support = hold_out.support;
  HeldOutRows held;
  held.rows = rows_where(support.rows(), [&](std::size_t i) { return plan.fold[i] < plan.turns; });
  for (const std::size_t row : held.rows) {
    held.labels.push_back(support.labels[row]);
    if (!hold_out.weights.empty()) held.weights.push_back(hold_out.weights[row]);
  }
  make_mean_one(held.weights);
  const std::size_t classes = plan.counts.size();
  held.logits = Matrix<float>(held.rows.size(), classes);
  std::vector<std::int32_t> same(classes);
  std::iota(same.begin(), same.end(), 0);
  for (std::size_t fold = 0; fold < plan.turns; ++fold) {
    const auto places = rows_where(held.rows.size(), [&](std::size_t i) { return plan.fold[held.rows[i]] == fold; });
    if (places.empty()) continue;
    const auto kept = rows_where(support.rows(), [&](std::size_t i) { return plan.fold[i] != fold; });
    const FitResult fit = train_without(hold_out, gather_rows(hold_out, kept, same, classes));
    std::vector<std::size_t> asked;
    for (const std::size_t place : places) asked.push_back(held.rows[place]);
    const Matrix<float> logits = held_out_logits(hold_out, fit.head, fetch_support(support, asked), classes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::copy(logits.row(i).begin(), logits.row(i).end(), held.logits.row(places[i]).begin());
    }
  }
  return held;
}

std::vector<ClassTurn> plan_stranger_turns(const HoldOutPlan& plan) {
  const std::size_t classes = classes_with_rows(plan);
  const std::size_t groups = std::min(kFewClassGroups, classes);
  std::vector<ClassTurn> turns;
  if (!can_be_cut(classes, groups)) return turns;
  for (std::size_t strangers = 0; turns.size() < groups && strangers < kEnoughHeldOut;) {
    turns.push_back({groups, turns.size(), std::nullopt});
    strangers += plan.fold.size() / groups;
  }
  return turns;
}

std::vector<ClassTurn> plan_class_turns(const HoldOutPlan& plan) {
  std::vector<ClassTurn> turns;
  const std::size_t classes = classes_with_rows(plan);
  std::size_t strangers = 0;
  for (const std::size_t groups : {std::size_t{2}, kFewClassGroups}) {
    if (!can_be_cut(classes, groups)) continue;
    for (std::size_t i = 0; i < groups && (turns.size() < 2 || strangers < kEnoughStrangers); ++i) {
      turns.push_back({groups, i, i % plan.turns});
      strangers += plan.fold.size() / groups;
    }
  }
  return turns;
}

std::optional<ClassTraining> train_without_classes(HoldOut& hold_out, const HoldOutPlan& plan, const ClassTurn& turn) {
  const SupportRows& support = hold_out.support;
  const auto group = group_classes(plan.counts.size(), turn, hold_out.recipe.final_training.seed);
  const auto is_strange = [&](std::size_t row) {
    return group[static_cast<std::size_t>(support.labels[row])] == turn.group;
  };
  std::vector<std::int32_t> number(group.size(), -1);
  std::size_t classes = 0;
  for (std::size_t c = 0; c < group.size(); ++c) {
    if (group[c] != turn.group && plan.counts[c] > 0) number[c] = static_cast<std::int32_t>(classes++);
  }
  const auto in_fold = [&](std::size_t row) { return turn.fold && plan.fold[row] == *turn.fold; };
  const auto kept = rows_where(support.rows(), [&](std::size_t i) { return !is_strange(i) && !in_fold(i); });
  auto known = rows_where(support.rows(), [&](std::size_t i) { return !is_strange(i) && in_fold(i); });
  auto strange = rows_where(support.rows(), is_strange);
  thin(known);
  thin(strange);
  if (classes < 2 || (turn.fold && known.empty()) || strange.empty()) {
    ++hold_out.done;
    return std::nullopt;
  }
  const WorkShare* const share = hold_out.recipe.final_training.share;
  if (share != nullptr && classes < share->class_ranks()) {
    fail(ErrorKind::kInput,
         "expected rows of at least {} classes in each half of them, as many as class ranks, found {}",
         share->class_ranks(), classes);
  }
  FitResult fit = train_without(hold_out, gather_rows(hold_out, kept, number, classes));
  std::vector<std::int32_t> labels;
  for (const std::size_t row : kept) labels.push_back(number[static_cast<std::size_t>(support.labels[row])]);
  return ClassTraining{
      std::move(fit), kept, std::move(labels), classes, fetch_support(support, known), fetch_support(support, strange)};
}

EvidenceTurn ask_about_strangers(const HoldOut& hold_out, const ClassTraining& training, double temperature) {
  Asked known = ask(hold_out, training, training.known);
  Asked strange = ask(hold_out, training, training.strange);
  const SupportIndex learnt = learnt_rows(hold_out, training, known, strange);
  const int threads = hold_out.recipe.final_training.threads;
  return {evidence_of(learnt, known, temperature, threads), evidence_of(learnt, strange, temperature, threads)};
}

}  // namespace annulus
