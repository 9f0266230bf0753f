// The order in which training examples are learned from: one that does not depend on how they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/learn/model/fit_model.h"

namespace annulus {

// Leaves training examples of weight 0 out and sorts the others by class, then by their features, their weights and
// their paths, so that the same examples give the same model in whatever order they come. Weights that are all the same
// are dropped. Returns the position that each example had before. Throws Error{kInput} for weights that are negative,
// not finite, all 0 or not one for each example.
std::vector<std::size_t> to_canonical_order(TrainingData& data);

// The same with the classes renumbered by their examples (class_order.h), which data.class_order tells: neither the
// order of the examples nor the names of the classes matter.
void to_content_order(TrainingData& data);

// Of some examples of a set in the order of to_content_order, the partition that this member of a communicator holds,
// with the labels and paths of all.
TrainingData canonical_partition(const FeatureSet& set, std::span<const std::uint32_t> rows,
                                 Communicator& communicator);

}  // namespace annulus
