// Random logits of originals and noise rows, with scales and labels: what the softmax kernels are tried on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/random.h"
#include "annulus/kernels/virtual_softmax.h"

namespace annulus {

struct SoftmaxSizes {
  std::size_t originals;
  std::size_t noise_rows;
  std::size_t classes;
};

template <class T>
struct SoftmaxProblem {
  Matrix<T> original;
  Matrix<T> noise;
  Matrix<T> scale;
  std::vector<std::int32_t> labels;

  SoftmaxProblem(const SoftmaxSizes& sizes, double spread)
      : original(sizes.originals, sizes.classes),
        noise(sizes.noise_rows, sizes.classes),
        scale(sizes.originals, sizes.noise_rows) {
    const RandomStream random{4, RandomUse::kSynthetic, 0};
    std::uint64_t used = 0;
    const auto fill = [&](Matrix<T>& matrix, double from, double to) {
      for (std::size_t i = 0; i < matrix.rows() * matrix.cols(); ++i) {
        matrix.data()[i] = static_cast<T>(from + (to - from) * random.uniform(used++));
      }
    };
    fill(original, -spread, spread);
    fill(noise, -spread, spread);
    fill(scale, 0.5, 3.0);
    for (std::size_t i = 0; i < sizes.originals; ++i) {
      labels.push_back(static_cast<std::int32_t>(random.below(used++, sizes.classes)));
    }
  }
  VirtualLogits<T> logits() const { return {original.view(), noise.view(), scale.view(), labels}; }
};

}  // namespace annulus
