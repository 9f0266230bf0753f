// Training of prototypes on support examples and queries together: cross-entropy and entropies, by Adam.
#pragma once

#include <cstddef>
#include <string_view>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct PrototypeTraining {
  std::string_view name;             // of the method, for progress
  double cross_entropy = 1.0;        // weight of the mean cross-entropy of the support examples
  double marginal_entropy = 0.0;     // weight of the entropy of the queries' mean probabilities, which is maximised
  double conditional_entropy = 1.0;  // weight of the mean entropy of a query's probabilities, which is minimised
  double order = 1.0;                // of both entropies: 1 is Shannon's, others (1 - sum p^a) / (a - 1) (Tsallis)
  double temperature = 15.0;         // logit of class k for row x: -temperature |x - w_k|^2 / 2
  std::size_t steps = 1000;          // of Adam, on all rows each
  double learning_rate = 1e-4;
};

// Rows are scaled to length 1, and w starts at the means of the support examples. Returns the softmax of the queries'
// logits after the last step. Memory: a copy of the rows, and rows x classes. Cost: two products of rows and prototypes
// a step.
QueryScores train_prototypes(const LabelledExamples& support, ConstMatrixView<float> queries,
                             const PrototypeTraining& training, int threads, const ProgressCallback& progress);

}  // namespace annulus
