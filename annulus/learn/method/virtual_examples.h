// Virtual examples z_ir = z_i + epsilon (s . delta_ir): the training examples z, the noise scale s, the kinds of noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "annulus/base/distributed/partition.h"
#include "annulus/base/matrix.h"

namespace annulus {

enum class NoiseShape : std::uint8_t {
  kEllipsoidal,  // s = per-dimension standard deviation of the training features, whatever their class
  kSpherical,    // s = 1: equation 1 of the paper
};

enum class NoiseSharing : std::uint8_t {
  kIndependent,  // every virtual example has noise of its own: the method to the letter, and the oracle
  kShared,       // all training examples of a step share the same R noise rows: about a hundred times less arithmetic
  kGrouped,      // training examples share noise within groups: between the two in cost and in the gradient's variance
};

std::string_view to_string(NoiseShape shape);
std::string_view to_string(NoiseSharing sharing);
NoiseShape noise_shape_from(std::string_view name);      // throws Error{kUsage}
NoiseSharing noise_sharing_from(std::string_view name);  // throws Error{kUsage}

// Fills noise rows [first, first + out.rows()) of a step with standard normal numbers delta.
template <class T>
using NoiseSource = std::function<void(std::size_t step, std::size_t first, MatrixView<T> out)>;

// What a head is trained on: L2-normalised features, labels, and the shape of the noise around them.
template <class T>
struct TrainingExamples {
  Matrix<T> features;                // z: examples x dimension, each row of length 1
  std::vector<std::int32_t> labels;  // y: class of each example, in [0, classes)
  std::size_t classes = 0;
  std::vector<T> noise_scale;  // s, one a dimension
  std::vector<T> weights{};    // how much each example counts, 1 on average; empty: all 1
  // Where several processes hold the examples together, `features` are those that are here; all else is of all.
  Partition partition{};

  std::size_t rows() const { return labels.size(); }
  std::size_t dimension() const { return features.cols(); }
};

// Normalises the features and measures s. Throws Error{kInput} when there are fewer than two classes, when a
// class has no example, or when an example cannot be normalised. `weights`, empty or a number above 0 for each example,
// are scaled to a mean of 1: an example of weight 2 counts as if it were there twice.
template <class T>
TrainingExamples<T> make_training_examples(Matrix<T> features, std::vector<std::int32_t> labels, std::size_t classes,
                                           NoiseShape shape, std::span<const float> weights = {},
                                           Partition partition = {});
// The same for a copy of the features.
template <class T>
TrainingExamples<T> make_training_examples(ConstMatrixView<float> features, std::span<const std::int32_t> labels,
                                           std::size_t classes, NoiseShape shape);

}  // namespace annulus
