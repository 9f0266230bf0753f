// Prototypes that the queries rectify, as BD-CSPN does (Liu et al., ECCV 2020); LaplacianShot starts from them.
#pragma once

#include "annulus/base/matrix.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct RectifiedPrototypes {
  Matrix<float> prototypes;  // classes x dimension
  Matrix<float> queries;     // of unit length, then shifted by the difference between the means of support and queries
};

// With P_k the mean of the support examples (of unit length) of class k, S_k these examples and the shifted queries q
// whose cosine to P_k is the largest: P'_k = sum_{x in S_k} w_x x, w_x = exp(10 cos(x, P_k)) / sum_{y in S_k}
// exp(10 cos(y, P_k)). All queries take part, as in later comparisons, where the paper takes the surest of each class.
// Cost: products of queries and prototypes.
RectifiedPrototypes rectify_prototypes(const LabelledExamples& support, ConstMatrixView<float> queries, int threads);

}  // namespace annulus
