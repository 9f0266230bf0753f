// Inputs of a kernel's size, filled with normal values: what the kernel timings share.
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

// Training examples, noise rows and work space of the streaming softmax gradient.
class SoftmaxProblem {
 public:
  SoftmaxProblem(std::size_t examples, std::size_t noise_rows, std::size_t classes)
      : example_(normal_matrix(examples, classes, 1)),
        noise_(normal_matrix(noise_rows, classes, 2)),
        scale_(examples, noise_rows),
        labels_(examples, 0),
        example_gradient_(examples, classes),
        noise_gradient_(noise_rows, classes),
        scratch_(virtual_softmax_scratch(classes, examples, noise_rows)) {
    for (std::size_t i = 0; i < examples * noise_rows; ++i) {
      scale_.data()[i] = 1.0F + 0.001F * static_cast<float>(i % 7);
    }
  }

  // One call of the kernel, without counting correct pairs; returns its loss.
  double run() {
    const VirtualLogits<float> logits{example_.view(), noise_.view(), scale_.view(), labels_};
    return virtual_softmax_gradient<float>(logits, 0.1F, 1e-4F, false, example_gradient_.view(), noise_gradient_.view(),
                                           scratch_)
        .loss;
  }

 private:
  Matrix<float> example_;
  Matrix<float> noise_;
  Matrix<float> scale_;
  std::vector<std::int32_t> labels_;
  Matrix<float> example_gradient_;
  Matrix<float> noise_gradient_;
  std::vector<float> scratch_;
};

}  // namespace annulus
