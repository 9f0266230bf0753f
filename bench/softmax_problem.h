// Inputs of a kernel's size, filled with normal numbers: what the kernel timings share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {

inline Matrix<float> normal_matrix(std::size_t rows, std::size_t cols, std::uint32_t stream) {
  Matrix<float> matrix(rows, cols);
  fill_gaussian({1, RandomUse::kSynthetic, stream}, 0, {matrix.data(), rows * cols});
  return matrix;
}

// Originals, noise rows and work space of the streaming softmax gradient.
class SoftmaxProblem {
 public:
  SoftmaxProblem(std::size_t originals, std::size_t noise_rows, std::size_t classes)
      : original_(normal_matrix(originals, classes, 1)),
        noise_(normal_matrix(noise_rows, classes, 2)),
        scale_(originals, noise_rows),
        labels_(originals, 0),
        original_gradient_(originals, classes),
        noise_gradient_(noise_rows, classes),
        scratch_(virtual_softmax_scratch(classes, originals, noise_rows)) {
    for (std::size_t i = 0; i < originals * noise_rows; ++i) {
      scale_.data()[i] = 1.0F + 0.001F * static_cast<float>(i % 7);
    }
  }

  // One call of the kernel, without the count of hits; returns its loss.
  double run() {
    const VirtualLogits<float> logits{original_.view(), noise_.view(), scale_.view(), labels_};
    return virtual_softmax_gradient<float>(logits, 0.1F, 1e-4F, false, original_gradient_.view(),
                                           noise_gradient_.view(), scratch_)
        .loss;
  }

 private:
  Matrix<float> original_;
  Matrix<float> noise_;
  Matrix<float> scale_;
  std::vector<std::int32_t> labels_;
  Matrix<float> original_gradient_;
  Matrix<float> noise_gradient_;
  std::vector<float> scratch_;
};

}  // namespace annulus
