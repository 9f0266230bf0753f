// How far a row can move before its prediction changes.
#pragma once

#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/model/model.h"

namespace annulus {

// Measures in the unit of epsilon: steps of size r along s . delta with |delta| = 1, where s is the spread of the
// training features in each dimension (1 in all where the noise was spherical), as virtual examples are made. Made once
// for a model; keeps its own copy of what it needs.
class BoundaryDistance {
 public:
  // `support`: the training examples that the model keeps, transformed and of length 1. Throws Error{kInput} when there
  // are none to measure s on.
  BoundaryDistance(const Model& model, ConstMatrixView<float> support);

  // For each row of logits of the model, with a the class of the largest,
  //   min over j of (z_a - z_j) / (c |s . (w_a - w_j)|), c = 10 for a cosine head and 1 for a linear one:
  // exact, as the row's length counts for all classes alike (of a linear head: as long as its length stays 1). Cost of
  // a row: classes x dimension.
  std::vector<float> radii(ConstMatrixView<float> logits, int threads) const;

 private:
  Matrix<float> scaled_;  // c s . w_j
};

}  // namespace annulus
