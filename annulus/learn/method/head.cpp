// Heads: names, initial numbers, effective weights and logits.
#include "annulus/learn/method/head.h"

#include <cmath>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"

namespace annulus {

std::string_view to_string(HeadKind kind) { return kind == HeadKind::kCosine ? "cosine" : "linear"; }

HeadKind head_kind_from(std::string_view name) {
  if (name == "cosine") return HeadKind::kCosine;
  if (name == "linear") return HeadKind::kLinear;
  fail(ErrorKind::kUsage, "expected a head of cosine or linear, found \"{}\"", name);
}

template <class T>
Head<T> initial_head(HeadKind kind, std::size_t classes, std::size_t dimension, std::uint64_t seed,
                     std::uint32_t stream) {
  return initial_head<T>(kind, classes, dimension, seed, stream, {0, classes});
}

template <class T>
Head<T> initial_head(HeadKind kind, std::size_t classes, std::size_t dimension, std::uint64_t seed,
                     std::uint32_t stream, Slice block) {
  const RandomStream random{seed, RandomUse::kHeadInit, stream};
  const double bound = 1.0 / std::sqrt(static_cast<double>(dimension));
  Head<T> head{kind, Matrix<T>(block.count, dimension), {}, {}};
  parallel_for(0, block.count, [&](std::size_t c) {
    const auto row = head.direction.row(c);
    for (std::size_t j = 0; j < dimension; ++j) {
      row[j] = static_cast<T>((2.0 * random.uniform((block.first + c) * dimension + j) - 1.0) * bound);
    }
  });
  if (kind == HeadKind::kCosine) {
    for (std::size_t c = 0; c < block.count; ++c) {
      head.gain.push_back(std::sqrt(squared_length(std::span<const T>(head.direction.row(c)))));
    }
  } else {
    for (std::size_t c = block.first; c < block.first + block.count; ++c) {
      head.bias.push_back(static_cast<T>((2.0 * random.uniform(classes * dimension + c) - 1.0) * bound));
    }
  }
  return head;
}

template <class T>
void effective_weights(const Head<T>& head, MatrixView<T> weights) {
  for (std::size_t c = 0; c < head.classes(); ++c) {
    const std::span<const T> direction = head.direction.row(c);
    const T factor =
        head.kind == HeadKind::kCosine ? head.gain[c] / std::sqrt(squared_length(direction)) : static_cast<T>(1);
    for (std::size_t j = 0; j < direction.size(); ++j) weights(c, j) = factor * direction[j];
  }
}

template <class T>
void compute_logits(const Head<T>& head, ConstMatrixView<T> rows, MatrixView<T> out, int threads) {
  Matrix<T> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  gemm(Transpose::kNo, Transpose::kYes, T{1}, rows, std::as_const(weights).view(), T{0}, out, threads);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (head.kind == HeadKind::kCosine) {
      const T length = std::sqrt(squared_length(rows.row(i)));
      scale_row(out.row(i), static_cast<T>(kCosineScale) / (length + static_cast<T>(kNormGuard)));
    } else {
      add_row(std::span<const T>(head.bias), out.row(i));
    }
  }
}

template struct Head<float>;
template struct Head<double>;
template Head<float> initial_head(HeadKind, std::size_t, std::size_t, std::uint64_t, std::uint32_t);
template Head<double> initial_head(HeadKind, std::size_t, std::size_t, std::uint64_t, std::uint32_t);
template Head<float> initial_head(HeadKind, std::size_t, std::size_t, std::uint64_t, std::uint32_t, Slice);
template Head<double> initial_head(HeadKind, std::size_t, std::size_t, std::uint64_t, std::uint32_t, Slice);
template void effective_weights(const Head<float>&, MatrixView<float>);
template void effective_weights(const Head<double>&, MatrixView<double>);
template void compute_logits(const Head<float>&, ConstMatrixView<float>, MatrixView<float>, int);
template void compute_logits(const Head<double>&, ConstMatrixView<double>, MatrixView<double>, int);

}  // namespace annulus
