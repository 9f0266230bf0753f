// Solves the normal equations of ridge regression by the smaller of two systems: products of rows or of columns.
#include "annulus/learn/ensemble/ridge.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/ensemble/cholesky.h"
#include "annulus/learn/ensemble/weighted_rows.h"

namespace annulus {
namespace {

constexpr std::size_t kCentredPerTask = 128;
constexpr std::size_t kMostCentredRows = 8192;  // in memory at a time
constexpr double kLeastPenalty = 1e-6;          // avoids a singular system if all examples are the same

// Scaling a row and its target by the root of its weight weights its squared error.
float root_weight(const TrainingExamples<float>& rows, std::size_t row) {
  return static_cast<float>(std::sqrt(weight_of(rows, row)));
}

// Row `from` minus `mean`, scaled by the root of its weight.
void centre_row(const TrainingExamples<float>& rows, std::span<const float> mean, std::size_t from,
                std::span<const float> row, std::span<float> to) {
  std::copy(row.begin(), row.end(), to.begin());
  subtract_row(mean, to);
  if (!rows.weights.empty()) scale_row(to, root_weight(rows, from));
}

// The same for the rows of `part`, all of which are on this process.
ConstMatrixView<float> centred(const TrainingExamples<float>& rows, std::span<const float> mean, Slice part,
                               int threads, Matrix<float>& buffer) {
  const std::size_t here = rows.partition.own(rows.rows()).first;
  const MatrixView<float> result = reuse_apart(buffer, part.count, rows.dimension());
  parallel_for(threads, (part.count + kCentredPerTask - 1) / kCentredPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(part.count, (task + 1) * kCentredPerTask);
    for (std::size_t i = task * kCentredPerTask; i < end; ++i) {
      centre_row(rows, mean, part.first + i, rows.features.row(part.first + i - here), result.row(i));
    }
  });
  return result;
}

// All rows on every process.
TrainingExamples<float> all_rows(const TrainingExamples<float>& rows) {
  TrainingExamples<float> all{Matrix<float>(rows.rows(), rows.dimension()), rows.labels, rows.classes, rows.noise_scale,
                              rows.weights};
  for_each_row(rows.partition, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const float> row) {
    std::copy(row.begin(), row.end(), all.features.row(i).begin());
  });
  return all;
}

// Products of the columns of the centred rows with each other (only the lower half is valid), computed from blocks of
// rows; each process multiplies the rows that it holds.
Matrix<float> column_products(const TrainingExamples<float>& rows, std::span<const float> mean, int threads) {
  Matrix<float> gram(rows.dimension(), rows.dimension());
  Matrix<float> buffer;
  const Slice own = rows.partition.own(rows.rows());
  for (std::size_t done = 0; done < own.count; done += kMostCentredRows) {
    const Slice part{own.first + done, std::min(kMostCentredRows, own.count - done)};
    lower_product(Transpose::kYes, 1.0F, centred(rows, mean, part, threads, buffer), done == 0 ? 0.0F : 1.0F,
                  gram.view(), threads);
  }
  if (Communicator* const communicator = rows.partition.communicator())
    communicator->sum(std::span<float>(gram.data(), gram.rows() * gram.cols()));
  return gram;
}

// Solves for every row of `rows`, through a copy.
void solve_all(const CholeskyFactor& factor, MatrixView<float> rows, int threads) {
  Matrix<float> memory;
  const auto solved = reuse_apart(memory, rows.rows(), rows.cols());
  for (std::size_t c = 0; c < rows.rows(); ++c) std::copy_n(rows.row(c).begin(), rows.cols(), solved.row(c).begin());
  factor.solve_rows(solved, threads);
  for (std::size_t c = 0; c < rows.rows(); ++c) std::copy_n(solved.row(c).begin(), rows.cols(), rows.row(c).begin());
}

}  // namespace

Matrix<float> ridge_weights(const TrainingExamples<float>& rows, RidgePenalty penalty, int threads,
                            const ParallelLayout* layout) {
  const Slice block = layout->class_block(rows.classes);
  const bool by_rows = rows.rows() <= rows.dimension();
  if (by_rows && rows.partition.communicator() != nullptr)
    return ridge_weights(all_rows(rows), penalty, threads, layout);
  const std::vector<float> mean = mean_row(rows);
  Matrix<float> buffer;
  ConstMatrixView<float> x;  // all rows, if they are few
  Matrix<float> gram;
  if (by_rows) {
    x = centred(rows, mean, {0, rows.rows()}, threads, buffer);
    gram = Matrix<float>(rows.rows(), rows.rows());
    lower_product(Transpose::kNo, 1.0F, x, 0.0F, gram.view(), threads);
  } else {
    gram = column_products(rows, mean, threads);
  }
  // The diagonal of either product sums to the squared lengths of all rows.
  double lengths = 0.0;
  for (std::size_t i = 0; i < gram.rows(); ++i) lengths += static_cast<double>(gram(i, i));
  const double scale = lengths / static_cast<double>(rows.rows());
  const auto added = static_cast<float>(penalty.relative * scale + penalty.absolute + kLeastPenalty);
  for (std::size_t i = 0; i < gram.rows(); ++i) gram(i, i) += added;
  const CholeskyFactor factor(gram.view(), threads);
  Matrix<float> weights(block.count, rows.dimension());
  if (!by_rows) {
    // The target is 1 for the class of a row, minus the fraction of the class; rows are centred, so these fractions
    // cancel.
    std::vector<float> centred_row(rows.dimension());
    for_each_row(rows.partition, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const float> row) {
      const std::size_t place = place_of(rows, i, block);
      if (place >= block.count) return;
      centre_row(rows, mean, i, row, centred_row);
      if (!rows.weights.empty()) scale_row(std::span<float>(centred_row), root_weight(rows, i));
      add_row(std::span<const float>(centred_row), weights.row(place));
    });
    solve_all(factor, weights.view(), threads);
    return weights;
  }
  const std::vector<double> counts = class_weights(rows);
  Matrix<float> targets(block.count, rows.rows());
  for (std::size_t c = 0; c < block.count; ++c) {
    const double part = counts[block.first + c] / static_cast<double>(rows.rows());
    for (float& target : targets.row(c)) target = static_cast<float>(-part);
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const std::size_t place = place_of(rows, i, block);
    if (place < block.count) targets(place, i) += 1.0F;
    if (rows.weights.empty()) continue;
    for (std::size_t c = 0; c < block.count; ++c) targets(c, i) *= root_weight(rows, i);
  }
  solve_all(factor, targets.view(), threads);
  gemm(Transpose::kNo, Transpose::kNo, 1.0F, std::as_const(targets).view(), x, 0.0F, weights.view(), threads);
  return weights;
}

}  // namespace annulus
