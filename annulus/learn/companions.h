// Companions: linear heads in closed form that vote beside a trained one. Where rows are few they err in other ways
// than it does, and the sum of linear scores is again one linear head.
#pragma once

#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/head.h"
#include "annulus/learn/virtual_examples.h"
#include "annulus/learn/work_share.h"

namespace annulus {

struct Companions {
  double ridge_weight = 0.0;   // of ridge regression onto the classes, 1 being the trained head's; 0: no companions
  double ridge_penalty = 0.5;  // as a share of the mean squared length of centred rows
  double mean_rows = 20.0;     // class means weigh (mean_rows / rows)^2: most at 10 rows, next to nothing at 100

  bool any() const { return ridge_weight > 0.0; }
};

std::vector<float> mean_row(const TrainingRows<float>& rows);

// All of these count training rows by their weights, where they have any. With a share they give the block of classes
// that this process holds.

// Ridge regression of centred rows onto their classes: one row of weights a class. The intercept carries no penalty and
// no prior: score_c(x) = w_c . (x - mean of the rows). `penalty` is a share of the mean squared length of those centred
// rows. Solves a system of the smaller of rows and dimension.
Matrix<float> ridge_weights(const TrainingRows<float>& rows, double penalty, int threads,
                            const WorkShare* share = nullptr);

// The means of the classes, less `centre` where it is not empty, scaled to length 1.
Matrix<float> class_mean_weights(const TrainingRows<float>& rows, std::span<const float> centre,
                                 const WorkShare* share = nullptr);

// The linear head whose scores are those of the trained head and its companions (ridge regression, class means as they
// are and less the mean of all rows), each divided by its spread over the training rows, weighted, and brought back to
// the spread of the trained head.
Head<float> with_companions(const Head<float>& trained, const TrainingRows<float>& rows, const Companions& companions,
                            int threads, const WorkShare* share = nullptr);

}  // namespace annulus
