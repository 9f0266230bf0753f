// Cholesky factors of large systems by matrix products of tiles, which is where this library is fast.
#pragma once

#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/kernels/gemm.h"

namespace annulus {

// c = alpha op(a) op(a)^T + beta c, of which the lower half is right and the rest is of no meaning: little more than
// half of the arithmetic of the whole product.
void lower_product(Transpose transpose, float alpha, ConstMatrixView<float> a, float beta, MatrixView<float> c,
                   int threads);

// The factor L of a symmetric positive definite system A = L L^T, in float: the error of a solution is about that of a
// matrix product times the condition of A, so it is for systems that a penalty keeps well-conditioned.
class CholeskyFactor {
 public:
  // Of the system the lower half is read. Throws Error{kInternal} when it is not positive definite.
  CholeskyFactor(ConstMatrixView<float> system, int threads);

  // Solves A x = b for every row b of `rows`, in place. The bits do not depend on the threads.
  void solve_rows(MatrixView<float> rows, int threads) const;

 private:
  Matrix<float> memory_;
  MatrixView<float> factor_;             // lower half
  std::vector<Matrix<float>> inverses_;  // of the tiles on the diagonal
};

}  // namespace annulus
