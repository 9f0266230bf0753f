// The order in which rows are learnt from: one that does not depend on how they were given.
#pragma once

#include "annulus/learn/fit_model.h"

namespace annulus {

// Leaves rows of weight 0 out and sorts the others by class, then by their numbers, then by path, so that the same rows
// give the same model in whatever order they come. Weights that are all the same are dropped. Throws Error{kInput} for
// weights that are negative, not finite, all 0 or not one a row.
void settle_rows(TrainingData& data);

}  // namespace annulus
