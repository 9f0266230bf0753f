// Distribution calibration (Yang et al., 2021) as a method: every training example borrows the mean and covariance of
// the nearest base classes, examples sampled from that distribution are added, and logistic regression is trained on
// all of them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/base_classes.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/softmax_regression.h"
#include "annulus/learn/method/head.h"

namespace annulus {
namespace {

constexpr std::size_t kNearest = 2;         // base classes per example, as published
constexpr std::size_t kRowsPerClass = 750;  // sampled examples per class, as published
constexpr std::size_t kMostRows = 20000;    // sampled examples in total: with many classes, each gets fewer
constexpr double kSpread = 0.21;            // alpha, as published: added to every entry of a covariance
constexpr double kTolerance = 0.1;          // of the regression: the sampled examples are noise beyond that
constexpr std::uint64_t kValuesPerRow = std::uint64_t{1} << 40;  // random values reserved for a training example

std::vector<std::size_t> nearest_base(const BaseClasses& base, std::span<const float> row) {
  std::vector<double> distance(base.classes(), 0.0);
  for (std::size_t c = 0; c < base.classes(); ++c) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double difference = static_cast<double>(row[j]) - static_cast<double>(base.means()(c, j));
      distance[c] += difference * difference;
    }
  }
  std::vector<std::size_t> order(base.classes());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance[a] < distance[b]; });
  order.resize(std::min(kNearest, order.size()));
  return order;
}

// Fills `out` with samples around the mean of `row` and the nearest base means. Normal values times the deviations of
// the base examples have their covariance, which is therefore never computed.
void sample_rows(const BaseClasses& base, std::span<const float> row, const RandomStream& stream, std::uint64_t first,
                 MatrixView<float> out, int threads) {
  const std::vector<std::size_t> nearest = nearest_base(base, row);
  const float scale = 1.0F / std::sqrt(static_cast<float>(nearest.size()));
  float beta = 0.0F;
  for (const std::size_t c : nearest) {
    const Matrix<float> deviations = base.deviations(c);
    Matrix<float> normals(out.rows(), deviations.rows());
    fill_gaussian(stream, first, {normals.data(), normals.rows() * normals.cols()});
    first += normals.rows() * normals.cols();
    gemm(Transpose::kNo, Transpose::kNo, scale, normals.view(), deviations.view(), beta, out, threads);
    beta = 1.0F;
  }
  std::vector<float> offsets(out.rows());  // one per sampled row, added to all its entries
  fill_gaussian(stream, first, offsets);
  for (std::size_t j = 0; j < out.cols(); ++j) {
    float mean = row[j];
    for (const std::size_t c : nearest) mean += base.means()(c, j);
    mean /= static_cast<float>(nearest.size() + 1);
    for (std::size_t i = 0; i < out.rows(); ++i) {
      out(i, j) += mean + static_cast<float>(std::sqrt(kSpread)) * offsets[i];
    }
  }
}

}  // namespace

FittedMethod fit_distribution_calibration_method(const LabelledExamples& support, const MethodContext& context,
                                                 const ProgressCallback& progress) {
  const BaseClasses& base = *context.base;
  const Matrix<float> roots = root_rows(support.features.view());
  const std::size_t wanted = std::min(kMostRows, kRowsPerClass * support.classes);
  const std::size_t each = std::max(std::size_t{1}, wanted / roots.rows());
  const TrainOptions& options = context.recipe.final_training;
  const RandomStream stream{options.seed, RandomUse::kCalibration, options.task};

  Matrix<float> rows(roots.rows() * (each + 1), roots.cols());
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < roots.rows(); ++i) {
    report(progress, {"calibration", i, roots.rows(), {}});
    const auto block = rows.view().rows_at(i * (each + 1), each + 1);
    std::copy(roots.row(i).begin(), roots.row(i).end(), block.row(0).begin());
    sample_rows(base, roots.row(i), stream, i * kValuesPerRow, block.rows_at(1, each), options.threads);
    labels.insert(labels.end(), each + 1, support.labels[i]);
  }
  auto head = std::make_shared<const Head<float>>(
      softmax_regression(rows.view(), labels, support.classes, {1.0, kTolerance, options.threads}, progress));
  FittedMethod fitted;
  const auto score = [head = std::move(head), threads = options.threads](ConstMatrixView<float> asked,
                                                                         MatrixView<float> scores) {
    compute_logits<float>(*head, root_rows(asked).view(), scores, threads);
    softmax_rows(scores);
  };
  classify_by_score(score, support.classes, fitted);
  fitted.probabilities = true;
  return fitted;
}

}  // namespace annulus
