// Ensemble heads: linear heads in closed form that are added to a trained one. With few examples they make different
// errors, and the sum of linear scores is again one linear head.
#pragma once

#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

struct EnsembleHeads {
  double ridge_weight = 0.0;      // of ridge regression, relative to the trained head's 1; 0: none
  double ridge_penalty = 0.5;     // as a fraction of the mean squared length of centred rows
  double prototype_shots = 20.0;  // prototypes have the weight prototype_weight + (prototype_shots / examples)^2
  double prototype_weight = 0.0;

  bool any() const { return ridge_weight > 0.0 || prototype_weight > 0.0; }
  bool operator==(const EnsembleHeads&) const = default;
};

// All of these weight training examples by their weights, if they have any. With a parallel layout they return the
// block of classes that this process holds.

// The means of the classes, minus `centre` if it is not empty, scaled to unit length.
Matrix<float> prototype_weights(const TrainingExamples<float>& rows, std::span<const float> centre,
                                const ParallelLayout* layout = &ParallelLayout::one_process());

// The linear head whose scores are the weighted sum of those of the trained head and its ensemble heads (ridge
// regression, prototypes with and without centring), each divided by its spread over the training examples, and
// rescaled to the spread of the trained head.
Head<float> with_ensemble_heads(const Head<float>& trained, const TrainingExamples<float>& rows,
                                const EnsembleHeads& ensemble, int threads,
                                const ParallelLayout* layout = &ParallelLayout::one_process());

}  // namespace annulus
