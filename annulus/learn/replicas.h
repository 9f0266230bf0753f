// Rows made up to stand for rows of a class that has only one: how sure a head is of them says what its logits are
// worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/held_out.h"

namespace annulus {

// Rows that a head was asked about.
struct AnsweredRows {
  Matrix<float> logits;
  std::vector<std::int32_t> labels;
};

// A replica is m + a (z - m) + sqrt(1 - a^2) (s - m), scaled to length 1: z a training row of the class that it is said
// to be of, m the mean of the training rows, s a row of a class that the head never saw, all conditioned, and a uniform
// in [0, kMostInCommon). So what it does not share with z is real: it points where rows of this set point, at other
// classes too, which Gaussian noise of many dimensions never does. About `count` replicas, as many of every training.
std::vector<AnsweredRows> ask_about_replicas(const HoldOut& hold_out, std::span<const ClassTraining> trainings,
                                             std::size_t count);

// Cosines of two rows of a class, less the mean of all rows, were 0.25 to 0.44 on average on the sets of
// docs/unknown.md.
inline constexpr double kMostInCommon = 0.5;

// Trainings whose strangers are enough to make replicas of, of the first ones of `turns`.
std::size_t turns_for_replicas(const HoldOutPlan& plan, std::span<const ClassTurn> turns);

}  // namespace annulus
