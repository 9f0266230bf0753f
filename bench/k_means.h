// Lloyd's k-means on rows of unit length, for the judges of pools to compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/random.h"
#include "annulus/kernels/gemm.h"

namespace annulus {

struct KMeans {
  std::vector<std::uint32_t> cluster;
  double cosine = 0.0;  // mean of rows with their centres
};

// One start by k-means++, at most `rounds` rounds; centres are scaled to unit length (spherical k-means).
inline KMeans k_means(ConstMatrixView<float> rows, std::size_t k, std::uint32_t start, std::size_t rounds,
                      int threads) {
  const RandomStream random{7, RandomUse::kSynthetic, start};
  Matrix<float> centres(k, rows.cols());
  std::vector<double> distance(rows.rows(), 1e30);
  std::size_t next = random.below(0, rows.rows());
  for (std::size_t c = 0; c < k; ++c) {
    std::copy_n(rows.row(next).begin(), rows.cols(), centres.row(c).begin());
    Matrix<float> product(rows.rows(), 1);
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows, std::as_const(centres).view().rows_at(c, 1), 0.0F, product.view(),
         threads);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      distance[i] = std::min(distance[i], std::max(0.0, 1.0 - static_cast<double>(product(i, 0))));
      sum += distance[i];
    }
    double left = random.uniform(c + 1) * sum;
    for (next = 0; next + 1 < rows.rows() && left > distance[next]; ++next) left -= distance[next];
  }
  KMeans result{std::vector<std::uint32_t>(rows.rows(), 0xFFFFFFFFU), 0.0};
  Matrix<float> products(rows.rows(), k);
  for (std::size_t round = 0; round < rounds; ++round) {
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows, std::as_const(centres).view(), 0.0F, products.view(), threads);
    bool moved = false;
    result.cosine = 0.0;
    std::fill_n(centres.data(), k * rows.cols(), 0.0F);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const auto row = products.row(i);
      const auto best = std::max_element(row.begin(), row.end());
      const auto cluster = static_cast<std::uint32_t>(best - row.begin());
      moved = moved || cluster != result.cluster[i];
      result.cluster[i] = cluster;
      result.cosine += static_cast<double>(*best) / static_cast<double>(rows.rows());
      for (std::size_t d = 0; d < rows.cols(); ++d) centres(cluster, d) += rows(i, d);
    }
    for (std::size_t c = 0; c < k; ++c) {
      const auto centre = centres.row(c);
      const double squares = std::inner_product(centre.begin(), centre.end(), centre.begin(), 0.0);
      for (float& value : centre) value /= static_cast<float>(std::sqrt(std::max(squares, 1e-20)));
    }
    if (!moved) break;
  }
  return result;
}

}  // namespace annulus
