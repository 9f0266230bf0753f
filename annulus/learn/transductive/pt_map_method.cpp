// PT-MAP (Hu et al., ICANN 2021) as a method: power transform, then prototypes and an optimal transport of queries to
// classes in turn. Every class is given the same number of queries: where that is wrong, the method is.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "annulus/kernels/gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/prototypes.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr float kRootGuard = 1e-6F;           // added before the square root, as published
constexpr double kTransportSharpness = 10.0;  // lambda of the transport, as published
constexpr double kPrototypeStep = 0.2;        // of the prototypes, as published
constexpr std::size_t kMapEpochs = 20;        // as published
constexpr std::size_t kMostScalings = 1000;
constexpr double kTransportTolerance = 1e-6;  // of the sums of the transport's rows

bool any_negative(ConstMatrixView<float> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (std::any_of(rows.row(i).begin(), rows.row(i).end(), [](float value) { return value < 0.0F; })) return true;
  }
  return false;
}

// The square root of non-negative features; unit length; minus the mean of these rows; unit length.
Matrix<float> centred_units(ConstMatrixView<float> rows, bool root) {
  Matrix<float> result(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::transform(rows.row(i).begin(), rows.row(i).end(), result.row(i).begin(),
                   [root](float value) { return root ? std::sqrt(value + kRootGuard) : value; });
  }
  result = unit_rows<float>(std::as_const(result).view());
  const std::vector<double> mean = mean_row(std::as_const(result).view());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < mean.size(); ++j) result(i, j) -= static_cast<float>(mean[j]);
  }
  return unit_rows<float>(std::as_const(result).view());
}

// Sinkhorn's scaling: rows sum to 1, columns to rows / columns.
void share_out(Matrix<double>& plan) {
  const double column = static_cast<double>(plan.rows()) / static_cast<double>(plan.cols());
  std::vector<double> sums(plan.cols());
  for (std::size_t scaling = 0; scaling < kMostScalings; ++scaling) {
    std::fill(sums.begin(), sums.end(), 0.0);
    double off = 0.0;
    for (std::size_t i = 0; i < plan.rows(); ++i) {
      const auto row = plan.row(i);
      double sum = 0.0;
      for (const double value : row) sum += value;
      off = std::max(off, std::abs(sum - 1.0));
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] /= sum;
        sums[k] += row[k];
      }
    }
    if (off <= kTransportTolerance) return;
    for (std::size_t i = 0; i < plan.rows(); ++i) {
      const auto row = plan.row(i);
      for (std::size_t k = 0; k < row.size(); ++k) row[k] *= column / sums[k];
    }
  }
}

class TransportMap {
 public:
  TransportMap(const LabelledExamples& support, ConstMatrixView<float> queries, int threads)
      : threads_(threads),
        labels_(support.labels),
        plan_(queries.rows(), support.classes),
        products_(queries.rows(), support.classes) {
    const bool root = !any_negative(support.features.view()) && !any_negative(queries);
    support_ = centred_units(support.features.view(), root);
    queries_ = centred_units(queries, root);
    prototypes_ = nearest_mean_head(unit_rows<double>(std::as_const(support_).view()).view(), labels_, support.classes)
                      .direction.clone();
  }

  // exp(-lambda |q - p|^2), shared out. The smallest distance of a row only scales it.
  void transport() {
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, std::as_const(queries_).view(), std::as_const(prototypes_).view(), 0.0F,
         products_.view(), threads_);
    std::vector<double> squares;
    for (std::size_t k = 0; k < prototypes_.rows(); ++k) {
      squares.push_back(static_cast<double>(squared_length(std::as_const(prototypes_).row(k))));
    }
    std::vector<double> distances(squares.size());
    for (std::size_t i = 0; i < plan_.rows(); ++i) {
      for (std::size_t k = 0; k < squares.size(); ++k) {
        distances[k] = squares[k] - 2.0 * static_cast<double>(products_(i, k));
      }
      const double least = *std::min_element(distances.begin(), distances.end());
      std::transform(distances.begin(), distances.end(), plan_.row(i).begin(),
                     [least](double distance) { return std::exp(-kTransportSharpness * (distance - least)); });
    }
    share_out(plan_);
  }

  // Prototypes move towards the means of their training examples and of the queries that were given to them.
  void move_prototypes() {
    const Matrix<float> shares = scores();
    Matrix<float> sums(prototypes_.rows(), prototypes_.cols());
    gemm(Transpose::kYes, Transpose::kNo, 1.0F, shares.view(), std::as_const(queries_).view(), 0.0F, sums.view(),
         threads_);
    for (std::size_t i = 0; i < support_.rows(); ++i) {
      add_row(std::as_const(support_).row(i), sums.row(static_cast<std::size_t>(labels_[i])));
    }
    std::vector<double> weights(prototypes_.rows(), 0.0);
    for (const std::int32_t label : labels_) weights[static_cast<std::size_t>(label)] += 1.0;
    for (std::size_t i = 0; i < plan_.rows(); ++i) {
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] += plan_(i, k);
    }
    for (std::size_t k = 0; k < prototypes_.rows(); ++k) {
      for (std::size_t j = 0; j < prototypes_.cols(); ++j) {
        const double mean = static_cast<double>(sums(k, j)) / weights[k];
        const auto now = static_cast<double>(prototypes_(k, j));
        prototypes_(k, j) = static_cast<float>(now + kPrototypeStep * (mean - now));
      }
    }
  }

  Matrix<float> scores() const {
    Matrix<float> result(plan_.rows(), plan_.cols());
    std::transform(plan_.data(), plan_.data() + plan_.rows() * plan_.cols(), result.data(),
                   [](double value) { return static_cast<float>(value); });
    return result;
  }

 private:
  int threads_;
  std::span<const std::int32_t> labels_;
  Matrix<float> support_;
  Matrix<float> queries_;
  Matrix<float> prototypes_;
  Matrix<double> plan_;
  Matrix<float> products_;
};

}  // namespace

QueryScores score_by_pt_map(const LabelledExamples& support, ConstMatrixView<float> queries,
                            const MethodContext& context, const ProgressCallback& progress) {
  TransportMap mapping(support, queries, context.threads());
  for (std::size_t epoch = 0; epoch < kMapEpochs; ++epoch) {
    report(progress, {"pt-map", epoch, kMapEpochs, {}});
    mapping.transport();
    mapping.move_prototypes();
  }
  mapping.transport();
  return {mapping.scores(), true};
}

}  // namespace annulus
