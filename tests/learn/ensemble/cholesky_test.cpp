// Solutions by tiles against their equations, at sizes below, at and above a tile.
#include "annulus/learn/ensemble/cholesky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "annulus/base/error.h"
#include "annulus/base/random.h"

namespace annulus {
namespace {

// X^T X + penalty for a few random rows X.
Matrix<float> random_system(std::size_t n, double penalty) {
  constexpr std::size_t kRows = 12;
  const RandomStream stream{7, RandomUse::kSynthetic, static_cast<std::uint32_t>(n)};
  Matrix<double> x(kRows, n);
  for (std::size_t i = 0; i < kRows * n; ++i) {
    x.data()[i] = (stream.uniform(i) - 0.5) / std::sqrt(static_cast<double>(n));
  }
  Matrix<float> system(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = i == j ? penalty : 0.0;
      for (std::size_t k = 0; k < kRows; ++k) sum += x(k, i) * x(k, j);
      system(i, j) = static_cast<float>(sum);
    }
  }
  return system;
}

TEST(Cholesky, LowerHalvesOfProductsAreThoseOfTheWhole) {
  for (const std::size_t n : {1U, 40U, 600U}) {
    for (const Transpose transpose : {Transpose::kNo, Transpose::kYes}) {
      const bool flip = transpose == Transpose::kYes;
      Matrix<float> a(flip ? 9 : n, flip ? n : 9);
      const RandomStream stream{9, RandomUse::kSynthetic, 0};
      for (std::size_t i = 0; i < 9 * n; ++i) a.data()[i] = static_cast<float>(stream.uniform(i) - 0.5);
      Matrix<float> found(n, n);
      for (std::size_t i = 0; i < n; ++i) found(i, i) = 4.0F;
      lower_product(transpose, -2.0F, a.view(), 0.5F, found.view(), 2);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          double sum = 0.0;
          for (std::size_t k = 0; k < 9; ++k) sum += flip ? a(k, i) * a(k, j) : a(i, k) * a(j, k);
          ASSERT_NEAR(found(i, j), (i == j ? 2.0 : 0.0) - 2.0 * sum, 1e-5) << n << " " << i << " " << j;
        }
      }
    }
  }
}

TEST(Cholesky, SolutionsFulfilTheirEquations) {
  for (const std::size_t n : {1U, 7U, 128U, 129U, 300U, 520U}) {
    const Matrix<float> system = random_system(n, 0.05);
    Matrix<float> rows(5, n);
    const RandomStream stream{8, RandomUse::kSynthetic, 0};
    for (std::size_t i = 0; i < 5 * n; ++i) rows.data()[i] = static_cast<float>(stream.uniform(i) - 0.5);
    Matrix<float> solved = rows.clone();
    CholeskyFactor(system.view(), 1).solve_rows(solved.view(), 1);
    double worst = 0.0;
    for (std::size_t r = 0; r < 5; ++r) {
      for (std::size_t i = 0; i < n; ++i) {
        double left = -static_cast<double>(rows(r, i));
        for (std::size_t j = 0; j < n; ++j)
          left += static_cast<double>(system(i, j)) * static_cast<double>(solved(r, j));
        worst = std::max(worst, std::fabs(left));
      }
    }
    EXPECT_LT(worst, 2e-5) << n;
    Matrix<float> threaded = rows.clone();
    CholeskyFactor(system.view(), 3).solve_rows(threaded.view(), 3);
    EXPECT_TRUE(std::equal(solved.data(), solved.data() + 5 * n, threaded.data())) << n;
  }
}

TEST(Cholesky, RejectsWhatIsNotPositiveDefinite) {
  Matrix<float> system(2, 2);
  system(0, 0) = 1.0F;
  system(1, 1) = -1.0F;
  EXPECT_THROW(CholeskyFactor(system.view(), 1), Error);
}

}  // namespace
}  // namespace annulus
