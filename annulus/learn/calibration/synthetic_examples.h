// Synthetic examples for classes that have only one: the confidence of a head on them calibrates its logits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/calibration/held_out.h"

namespace annulus {

// Examples and the logits of a head.
struct ScoredExamples {
  Matrix<float> logits;
  std::vector<std::int32_t> labels;
};

// A synthetic example is m + a (z - m) + sqrt(1 - a^2) (s - m), scaled to unit length: z a training example of its
// class, m the mean of the training examples, s an example of a class that the head was trained without, all
// transformed, and a uniform in [0, kMostInCommon). The part that it does not share with z is real data: it points in
// the directions of this set, towards other classes too, unlike Gaussian noise in many dimensions. Makes about `count`
// synthetic examples, the same number for every training.
std::vector<ScoredExamples> score_synthetic_examples(const HoldOut& hold_out, std::span<const ClassTraining> trainings,
                                                     std::size_t count);

// The mean cosine of two centred examples of a class was 0.25 to 0.44 on the sets of docs/explanation/open-set.md.
inline constexpr double kMostInCommon = 0.5;

// The number of first `folds` whose unknown inputs are enough to make synthetic examples.
std::size_t folds_for_synthetic_examples(const HoldOutPlan& plan, std::span<const ClassFold> folds);

}  // namespace annulus
