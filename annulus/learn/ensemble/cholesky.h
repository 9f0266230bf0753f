// Cholesky factors of large systems by matrix products of tiles.
#pragma once

#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/kernels/gemm.h"

namespace annulus {

// c = alpha op(a) op(a)^T + beta c. Only the lower half is valid afterwards: little more than half of the arithmetic of
// the whole product.
void lower_product(Transpose transpose, float alpha, ConstMatrixView<float> a, float beta, MatrixView<float> c,
                   int threads);

// The factor L of a symmetric positive definite system A = L L^T, in float. The error of a solution is about that of a
// matrix product times the condition number of A, so the system needs a penalty that keeps it well-conditioned.
class CholeskyFactor {
 public:
  // Reads the lower half of the system. Throws Error{kInternal} if it is not positive definite.
  CholeskyFactor(ConstMatrixView<float> system, int threads);

  // Solves A x = b for every row b of `rows`, in place. The bits do not depend on the threads.
  void solve_rows(MatrixView<float> rows, int threads) const;

 private:
  Matrix<float> memory_;
  MatrixView<float> factor_;             // lower half
  std::vector<Matrix<float>> inverses_;  // of the tiles on the diagonal
};

}  // namespace annulus
