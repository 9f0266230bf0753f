// Trains heads with held-out examples and classes, and computes their outputs on these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/support_set.h"
#include "annulus/learn/openset/open_set_features.h"

namespace annulus {

inline constexpr std::size_t kEnoughHeldOut =
    1000;  // rows: their 5 % quantile is within about 0.7 points of that of all

// The fold of each example: every class has examples in every fold, or nearly so, and all examples of a group that are
// held out are in the same.
struct HoldOutPlan {
  std::vector<std::size_t> counts;  // examples of each class
  double shots = 0.0;               // groups a class, on average; examples where there are no groups
  std::size_t folds = 0;            // fewer than 2: nothing can be held out
  std::size_t held_out_folds = 0;   // the first ones; enough for kEnoughHeldOut examples
  std::vector<std::size_t> fold;  // of each example; `held_out_folds` for examples that are always trained on, such as
                                  // the only one of a class
};

HoldOutPlan plan_hold_out(const SupportSet& support, std::size_t classes, std::uint64_t seed);

// The held-out examples, in ascending order, and the logits of heads that were trained without them.
struct HeldOutExamples {
  std::vector<std::size_t> rows;
  std::vector<std::int32_t> labels;
  std::vector<float> weights;  // 1 on average; empty if all count the same
  Matrix<float> logits;
};

// A training without a group of classes and without a fold.
struct ClassFold {
  std::size_t groups = 2;           // into which the classes are divided
  std::size_t group = 0;            // the one that is left out
  std::optional<std::size_t> fold;  // empty: all examples of the other classes are trained on
};

// Both halves of the classes, then fifths of them until kEnoughUnknown examples were unknown inputs.
std::vector<ClassFold> plan_class_folds(const HoldOutPlan& plan);

inline constexpr std::size_t kEnoughUnknown = 500;

// Every class is left out once, a fifth of them at a time, and all other examples are trained on: for sets that are too
// small to hold a fold out as well. Fewer folds once kEnoughHeldOut examples were unknown inputs, none if a head would
// have a single class.
std::vector<ClassFold> plan_unknown_folds(const HoldOutPlan& plan);

// The inputs that all trainings of a calibration share.
struct HoldOut {
  const SupportSet& support;
  std::span<const float> weights;    // of the support examples; empty: all count the same
  const Recipe& recipe;              // of the trainings
  const ProgressCallback& progress;  // of a stage "calibrate"
  std::size_t trainings = 0;         // in all
  std::size_t done = 0;
  // Trains a head; tests put others in its place.
  FitResult (*fit)(LabelledExamples&& rows, const Recipe& recipe, const ProgressCallback& progress) = fit_head;
};

// Whether the metric of a fold has to come from other classes: of two examples, one of which is held out, the other
// does not show how its class varies. One half of the classes then gives the metric of a fold, and only examples of the
// other half are held out.
bool lacks_pairs(const Recipe& recipe, const HoldOutPlan& plan);

HeldOutExamples hold_out_examples(HoldOut& hold_out, const HoldOutPlan& plan);

// A head that was trained without a group of classes, and examples to evaluate it on.
struct ClassTraining {
  FitResult fit;
  std::vector<std::size_t> learnt;   // the support examples that it was trained on
  std::vector<std::int32_t> labels;  // of these examples, as class indices of the head
  std::size_t classes = 0;
  SupportSet known;    // of classes that the head knows, in the fold that was held out; empty without a fold
  SupportSet unknown;  // of the classes that it was trained without
};

// The training for a fold; empty if nothing would be left to train on or to evaluate.
std::optional<ClassTraining> train_without_classes(HoldOut& hold_out, const HoldOutPlan& plan, const ClassFold& fold);

// The open-set features of the known and unknown examples; logits are divided by the temperature.
OpenSetFold features_of_unknown(const HoldOut& hold_out, const ClassTraining& training, double temperature);

}  // namespace annulus
