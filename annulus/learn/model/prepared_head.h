// PreparedHead, and what a head says about raw feature rows: logits, probabilities at a temperature, classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/transform/feature_transform.h"

namespace annulus {

// Transforms raw rows and scales them to length 1, in place. Throws Error{kInput} for a row that has no length, with
// its number counted from `first`.
void prepare_rows(const FeatureTransform& transform, MatrixView<float> rows, std::size_t first = 0, int threads = 1);

// All of these take raw feature rows, which are transformed and normalised here, and throw Error{kInput} for rows of
// another dimension and for a row that has no length; out is rows x classes.
void predict_logits(const Head<float>& head, ConstMatrixView<float> features, MatrixView<float> out, int threads);
// The softmax of the logits divided by the temperature.
void predict_probabilities(const Head<float>& head, double temperature, ConstMatrixView<float> features,
                           MatrixView<float> out, int threads);
// The most probable class of each row.
std::vector<std::int32_t> predict_classes(const Head<float>& head, ConstMatrixView<float> features, int threads);

// A head made ready for many small blocks of rows, which it must outlive: what all blocks need is computed once, and
// the bits of a row's logits do not depend on the rows beside it, at some cost where blocks are large. Every app
// predicts by it, so that all give the same bits. Throws Error{kCancelled} when told to stop.
class PreparedHead {
 public:
  explicit PreparedHead(const Head<float>& head);
  void logits(ConstMatrixView<float> features, MatrixView<float> out, int threads,
              const ProgressCallback& progress = {}) const;
  // The class of the largest logit of each row; logits of all rows never stand in memory together.
  std::vector<std::int32_t> classes(ConstMatrixView<float> features, int threads,
                                    const ProgressCallback& progress = {}) const;

 private:
  ConstMatrixView<float> weights() const;

  const Head<float>& head_;
  Matrix<float> weights_;  // effective ones of a cosine head
};

// Logits become probabilities at a temperature, in place.
void to_probabilities(MatrixView<float> logits, double temperature);

}  // namespace annulus
