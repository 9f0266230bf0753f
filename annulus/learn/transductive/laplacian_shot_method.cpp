// LaplacianShot (Ziko et al., ICML 2020) as a method: distances to rectified prototypes, with neighbouring queries
// drawn to the same class.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/transductive/rectified_prototypes.h"

namespace annulus {
namespace {

constexpr std::size_t kNearestQueries = 3;  // as published
constexpr double kNeighbourWeight = 0.7;    // lambda: what the authors' search found for one shot
constexpr std::size_t kBoundSteps = 20;     // as published
constexpr double kBoundTolerance = 1e-6;    // relative change of the bound that ends the steps
constexpr std::size_t kQueriesAtOnce = 256;

// The nearest other queries of each query, nearest first; of equally near ones, the first. Memory: kQueriesAtOnce x
// queries.
class NearestQueries {
 public:
  NearestQueries(ConstMatrixView<float> rows, int threads)
      : count_(std::min(kNearestQueries, rows.rows() - 1)), nearest_(rows.rows()) {
    std::vector<float> half_squares;
    for (std::size_t i = 0; i < rows.rows(); ++i) half_squares.push_back(squared_length(rows.row(i)) / 2.0F);
    Matrix<float> products(std::min(kQueriesAtOnce, rows.rows()), rows.rows());
    for (std::size_t first = 0; first < rows.rows(); first += kQueriesAtOnce) {
      const auto block = products.view().rows_at(0, std::min(kQueriesAtOnce, rows.rows() - first));
      gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows.rows_at(first, block.rows()), rows, 0.0F, block, threads);
      for (std::size_t i = 0; i < block.rows(); ++i) find(first + i, block.row(i), half_squares);
    }
  }

  // out(i) = the sum of the rows of the neighbours of i.
  void add_up(ConstMatrixView<float> assignments, MatrixView<float> out) const {
    for (std::size_t i = 0; i < nearest_.size(); ++i) {
      const auto sum = out.row(i);
      std::fill(sum.begin(), sum.end(), 0.0F);
      for (std::size_t n = 0; n < count_; ++n) add_row(assignments.row(nearest_[i][n]), sum);
    }
  }

 private:
  // x_i . x_j - |x_j|^2 / 2 is largest for the nearest j.
  void find(std::size_t row, std::span<const float> products, std::span<const float> half_squares) {
    std::array<float, kNearestQueries> best{};
    best.fill(-std::numeric_limits<float>::infinity());
    for (std::size_t j = 0; j < products.size(); ++j) {
      if (j == row) continue;
      float nearness = products[j] - half_squares[j];
      auto candidate = static_cast<std::uint32_t>(j);
      for (std::size_t n = 0; n < count_; ++n) {
        if (nearness <= best[n]) continue;
        std::swap(nearness, best[n]);
        std::swap(candidate, nearest_[row][n]);
      }
    }
  }

  std::size_t count_;
  std::vector<std::array<std::uint32_t, kNearestQueries>> nearest_;
};

// |q_i - p_k|^2
Matrix<float> squared_distances(ConstMatrixView<float> queries, ConstMatrixView<float> prototypes, int threads) {
  Matrix<float> distances(queries.rows(), prototypes.rows());
  gemm(Transpose::kNo, Transpose::kYes, -2.0F, queries, prototypes, 0.0F, distances.view(), threads);
  std::vector<float> squares;
  for (std::size_t k = 0; k < prototypes.rows(); ++k) squares.push_back(squared_length(prototypes.row(k)));
  for (std::size_t i = 0; i < queries.rows(); ++i) {
    const float own = squared_length(queries.row(i));
    for (std::size_t k = 0; k < squares.size(); ++k) distances(i, k) += own + squares[k];
  }
  return distances;
}

// The bound of equation 7: sum y log y + y a - lambda y b, with b the sums over the neighbours.
double assignment_bound(ConstMatrixView<float> assignments, ConstMatrixView<float> distances,
                        ConstMatrixView<float> sums) {
  double total = 0.0;
  for (std::size_t i = 0; i < assignments.rows(); ++i) {
    for (std::size_t k = 0; k < assignments.cols(); ++k) {
      const auto y = static_cast<double>(assignments(i, k));
      const double entropy = y > 0.0 ? std::log(y) : 0.0;
      total +=
          y * (entropy + static_cast<double>(distances(i, k)) - kNeighbourWeight * static_cast<double>(sums(i, k)));
    }
  }
  return total;
}

}  // namespace

// Each step minimises the bound: y_i = softmax(lambda sum_{j near i} y_j - a_i), a_i the squared distances.
QueryScores score_by_laplacian_shot(const LabelledExamples& support, ConstMatrixView<float> queries,
                                    const MethodContext& context, const ProgressCallback& progress) {
  report(progress, {"laplacian-shot", 0, kBoundSteps, {}});
  const RectifiedPrototypes rectified = rectify_prototypes(support, queries, context.threads());
  const NearestQueries nearest(rectified.queries.view(), context.threads());
  const Matrix<float> distances =
      squared_distances(rectified.queries.view(), rectified.prototypes.view(), context.threads());
  Matrix<float> assignments(distances.rows(), distances.cols());
  Matrix<float> sums(distances.rows(), distances.cols());  // zeros: the first assignments are by distance alone
  const auto assign = [&] {
    for (std::size_t i = 0; i < distances.rows() * distances.cols(); ++i) {
      assignments.data()[i] = static_cast<float>(kNeighbourWeight) * sums.data()[i] - distances.data()[i];
    }
    softmax_rows(assignments.view());
    nearest.add_up(std::as_const(assignments).view(), sums.view());
  };
  assign();
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t step = 0; step < kBoundSteps; ++step) {
    report(progress, {"laplacian-shot", step, kBoundSteps, {}});
    assign();
    const double now =
        assignment_bound(std::as_const(assignments).view(), distances.view(), std::as_const(sums).view());
    if (step > 1 && std::abs(now - before) <= kBoundTolerance * std::abs(before)) break;
    before = now;
  }
  return {std::move(assignments), true};
}

}  // namespace annulus
