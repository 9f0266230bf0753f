// Ridge regression onto classes in closed form.
#pragma once

#include "annulus/base/matrix.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// What multiplies the squared length of the weights: the sum of the two.
struct RidgePenalty {
  double relative = 0.0;  // times the mean squared length of the centred rows
  double absolute = 0.0;
};

// Ridge regression of centred rows onto their classes, 1 for the own class and 0 for others: one row of weights per
// class. The intercept has no penalty and no prior: score_c(x) = w_c . (x - mean of the rows). Examples count by their
// weights, if they have any. Solves a system of the size min(rows, dimension), in float: the penalty must keep it
// well-conditioned. With a parallel layout it returns the block of classes that this process holds.
Matrix<float> ridge_weights(const TrainingExamples<float>& rows, RidgePenalty penalty, int threads,
                            const ParallelLayout* layout = &ParallelLayout::one_process());

}  // namespace annulus
