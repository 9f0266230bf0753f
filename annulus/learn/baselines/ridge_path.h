// Leave-one-out errors of ridge regression for many penalties, from one factorisation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

// For ridge regression of the rows onto +1 (own class) and -1 (others), with an intercept that has no penalty: the
// squared error of predicting each row from all the others, summed over rows and classes. The rows x classes residuals
// of a row that is left out are those of the fit divided by 1 - h, with h its own influence on its prediction.
class RidgePath {
 public:
  // Costs a tridiagonal form of a matrix of the order m = min(rows, dimension), about 4/3 m^3 operations in double, and
  // products in float. Keeps m x rows and rows x classes values. The bits do not depend on `threads`.
  RidgePath(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes, int threads);

  // Costs a product of order rows x m x classes.
  double leave_one_out_error(double penalty) const;

 private:
  void decompose(ConstMatrixView<float> centred);
  // diagonal_ and sides_ plus the penalty as l d l^T; l is unit lower bidiagonal.
  struct Factor {
    std::vector<double> below;    // of l; the first is 0
    std::vector<double> inverse;  // 1 / d
  };
  Factor factor(double penalty) const;
  // p_i (T + penalty)^-1 p_i^T for every row p_i of the basis.
  std::vector<double> influence(const Factor& factor) const;
  // (T + penalty)^-1 basis^T targets.
  Matrix<float> coefficients(const Factor& factor) const;

  int threads_;
  bool dual_;                     // the matrix is rows x rows rather than dimension x dimension
  double intercept_ = 0.0;        // in the dual form, the eigenvalue that the vector of ones is given
  std::vector<double> diagonal_;  // of the tridiagonal T, with q T q^T = centred centred^T, or centred^T centred
  std::vector<double> sides_;     // below it
  Matrix<float> basis_;           // m x rows: q^T, or (centred q)^T
  Matrix<float> targets_;         // rows x classes, centred
  Matrix<double> projected_;      // m x classes: basis targets
};

}  // namespace annulus
