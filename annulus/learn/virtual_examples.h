// Virtual examples: Gaussian points around every training feature (METHOD: x = z + epsilon * (s . delta)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/row_cut.h"

namespace annulus {

enum class NoiseShape : std::uint8_t {
  kEllipsoidal,  // s = per-dimension standard deviation of the training features, whatever their class
  kSpherical,    // s = 1
};

enum class NoiseSharing : std::uint8_t {
  kIndependent,  // every virtual example has noise of its own: the method to the letter, and the oracle
  kShared,       // all originals of a step share the same R noise rows: about a hundred times less arithmetic
  kGrouped,      // originals share noise within groups: between the two in cost and in the gradient's variance
};

std::string_view to_string(NoiseShape shape);
std::string_view to_string(NoiseSharing sharing);
NoiseShape noise_shape_from(std::string_view name);      // throws Error{kUsage}
NoiseSharing noise_sharing_from(std::string_view name);  // throws Error{kUsage}

// What a head is trained on: L2-normalised features, labels, and the shape of the noise around them.
template <class T>
struct TrainingRows {
  Matrix<T> features;                // rows x dimension, each of length 1
  std::vector<std::int32_t> labels;  // class of each row, in [0, classes)
  std::size_t classes = 0;
  std::vector<T> noise_scale;  // s, one a dimension
  std::vector<T> weights{};    // how much each row counts, 1 on average; empty: all 1
  // Where several processes hold the rows together, `features` are those that are here; all else is of all rows.
  RowCut cut{};

  std::size_t rows() const { return labels.size(); }
  std::size_t dimension() const { return features.cols(); }
};

// Normalises the features and measures s. Throws Error{kInput} when there are fewer than two classes, when a
// class has no row, or when a row cannot be normalised. `weights`, empty or a number above 0 for each row, are scaled
// to a mean of 1: a row of weight 2 counts as if it were there twice.
template <class T>
TrainingRows<T> make_training_rows(Matrix<T> features, std::vector<std::int32_t> labels, std::size_t classes,
                                   NoiseShape shape, std::span<const float> weights = {}, RowCut cut = {});
// The same for a copy of the features.
template <class T>
TrainingRows<T> make_training_rows(ConstMatrixView<float> features, std::span<const std::int32_t> labels,
                                   std::size_t classes, NoiseShape shape);

}  // namespace annulus
