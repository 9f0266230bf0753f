// Rows and classes that are held out of trainings, and what heads that never saw them say about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/evidence.h"
#include "annulus/learn/recipe.h"
#include "annulus/learn/support_rows.h"

namespace annulus {

// How a fit is done again: fit_ibm2 or fit_baseline.
using Refit = FitResult(LabelledRows&& rows, const Recipe& recipe, const ProgressCallback& progress);

inline constexpr std::size_t kEnoughHeldOut =
    1000;  // rows: their 5 % quantile is within about 0.7 points of that of all

// Which rows are held out when: every class has rows in every fold, or nearly so.
struct HoldOutPlan {
  std::vector<std::size_t> counts;  // rows of each class
  std::size_t folds = 0;            // fewer than 2: nothing can be held out
  std::size_t turns = 0;            // folds that are held out, the first ones; enough for kEnoughHeldOut rows
  std::vector<std::size_t> fold;    // of each row; `turns` for rows that are always trained on, as single ones are
};

HoldOutPlan plan_hold_out(const SupportRows& support, std::size_t classes, std::uint64_t seed);

// The rows held out, in ascending order, and what heads that never saw them say.
struct HeldOutRows {
  std::vector<std::size_t> rows;
  std::vector<std::int32_t> labels;
  std::vector<float> weights;  // 1 on average; none where all count the same
  Matrix<float> logits;
};

// A training without part of the classes and without a fold.
struct ClassTurn {
  std::size_t groups = 2;           // into which the classes are cut
  std::size_t group = 0;            // that is left out
  std::optional<std::size_t> fold;  // none: all rows of the other classes are learnt
};

// Both halves of the classes, then fifths of them until kEnoughStrangers rows were strangers.
std::vector<ClassTurn> plan_class_turns(const HoldOutPlan& plan);

inline constexpr std::size_t kEnoughStrangers = 500;

// Every class is left out once, a fifth of them at a time, and all other rows are learnt: for rows that are too few to
// hold a fold out as well. Fewer turns where kEnoughHeldOut rows were strangers before, none where a head would have a
// single class.
std::vector<ClassTurn> plan_stranger_turns(const HoldOutPlan& plan);

// What every training of a calibration has in common.
struct HoldOut {
  const SupportRows& support;
  std::span<const float> weights;  // of the support rows; empty: all count the same
  const Recipe& recipe;
  Refit& refit;
  const ProgressCallback& progress;  // of a stage "calibrate"
  std::size_t trainings = 0;         // in all
  std::size_t done = 0;
};

HeldOutRows hold_out_rows(HoldOut& hold_out, const HoldOutPlan& plan);

// A head that was trained without part of the classes, and rows that may be asked of it.
struct ClassTraining {
  FitResult fit;
  std::vector<std::size_t> learnt;   // the support rows that it was trained on
  std::vector<std::int32_t> labels;  // of these rows, in the head's numbers of classes
  std::size_t classes = 0;
  SupportRows known;    // of classes that the head knows, in a fold that it was not trained on; none without a fold
  SupportRows strange;  // of the classes that it was trained without
};

// The training of a turn; none where it would leave nothing to train on or to ask.
std::optional<ClassTraining> train_without_classes(HoldOut& hold_out, const HoldOutPlan& plan, const ClassTurn& turn);

// What the head says about the rows; logits are divided by the temperature.
EvidenceTurn ask_about_strangers(const HoldOut& hold_out, const ClassTraining& training, double temperature);

}  // namespace annulus
