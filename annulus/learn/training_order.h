// The order in which rows are learnt from: one that does not depend on how they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/learn/fit_model.h"

namespace annulus {

// Leaves rows of weight 0 out and sorts the others by class, then by their numbers, then by path, so that the same rows
// give the same model in whatever order they come. Weights that are all the same are dropped. Returns which row each
// was before. Throws Error{kInput} for weights that are negative, not finite, all 0 or not one a row.
std::vector<std::size_t> settle_rows(TrainingData& data);

// Of the named rows of a set in that order, the run that this member of a team holds, with the labels and paths of all.
TrainingData settled_run(const FeatureSet& set, std::span<const std::uint32_t> rows, Team& team);

}  // namespace annulus
