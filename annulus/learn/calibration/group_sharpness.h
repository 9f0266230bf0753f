// Calibrates the probabilities of groups of classes.
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"
#include "annulus/learn/model/class_tree.h"

namespace annulus {

// Mistakes within a group are likelier than between groups, so sums of calibrated class probabilities are too cautious.
// The exponent a for ClassTree that minimises, over held-out examples with their class probabilities,
//   sum of the mean over the groups of the lineage of -log(right ? p : 1 - p)  +  log(a)^2 / (2 * 0.5^2),
// with p the probability of a group and whether the label is within it: what is named is to be right as often as it
// says.
// Returns 1 where no label has a group.
double group_sharpness(const ClassTree& tree, ConstMatrixView<float> probabilities,
                       std::span<const std::int32_t> labels);

}  // namespace annulus
