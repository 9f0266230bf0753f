// Distances to the nearest boundary, in units of the training noise.
#include "annulus/learn/model/boundary_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

BoundaryDistance::BoundaryDistance(const Model& model, ConstMatrixView<float> support)
    : scaled_(model.head.classes(), model.head.dimension()) {
  if (support.rows() == 0 || support.rows() != model.support.rows()) {
    fail(ErrorKind::kInput, "expected a model that keeps its training examples to measure radii by, found none");
  }
  effective_weights(model.head, scaled_.view());
  const bool spherical = model.training.noise_shape == NoiseShape::kSpherical;
  std::vector<float> scale(model.head.dimension(), 1.0F);
  if (!spherical) {
    scale = make_training_examples<float>(support, model.support.labels, model.head.classes(), NoiseShape::kEllipsoidal)
                .noise_scale;
  }
  const float factor = model.head.kind == HeadKind::kCosine ? static_cast<float>(kCosineScale) : 1.0F;
  for (std::size_t c = 0; c < scaled_.rows(); ++c) {
    multiply_row(std::span<const float>(scaled_.row(c)), std::span<const float>(scale), scaled_.row(c));
    scale_row(scaled_.row(c), factor);
  }
}

std::vector<float> BoundaryDistance::radii(ConstMatrixView<float> logits, int threads) const {
  std::vector<float> radii(logits.rows(), std::numeric_limits<float>::infinity());
  parallel_for(threads, logits.rows(), [&](std::size_t i) {
    const auto row = logits.row(i);
    const std::size_t top = argmax(row);
    std::vector<float> difference(scaled_.cols());
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j == top) continue;
      for (std::size_t k = 0; k < difference.size(); ++k) difference[k] = scaled_(top, k) - scaled_(j, k);
      const float length = std::sqrt(squared_length(std::span<const float>(difference)));
      if (length > 0.0F) radii[i] = std::min(radii[i], (row[top] - row[j]) / length);
    }
  });
  return radii;
}

}  // namespace annulus
