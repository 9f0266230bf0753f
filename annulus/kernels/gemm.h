// Matrix products: oneDNN for float, plain loops for double (used as a reference).
#pragma once

#include <cstdint>
#include <span>

#include "annulus/base/matrix.h"

namespace annulus {

enum class Transpose : std::uint8_t { kNo, kYes };

template <class T>
struct GemmCall {
  Transpose transpose_a;
  Transpose transpose_b;
  T alpha;
  ConstMatrixView<T> a;
  ConstMatrixView<T> b;
  T beta;
  MatrixView<T> c;
};

// c = alpha * op(a) * op(b) + beta * c, where op transposes or not. beta 0 overwrites c, whatever it contained. c is
// divided into tiles by its size alone, so the bits do not depend on `threads` (0: all processors).
void gemm(Transpose transpose_a, Transpose transpose_b, float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b,
          float beta, MatrixView<float> c, int threads);
void gemm(Transpose transpose_a, Transpose transpose_b, double alpha, ConstMatrixView<double> a,
          ConstMatrixView<double> b, double beta, MatrixView<double> c, int threads);

// Several products at once, none of which reads what another writes: their tiles are distributed over the threads
// together.
void gemm(std::span<const GemmCall<float>> calls, int threads);
void gemm(std::span<const GemmCall<double>> calls, int threads);

}  // namespace annulus
