// Shifts queries onto the support examples, and adds them to the class that they resemble most.
#include "annulus/learn/transductive/rectified_prototypes.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/prototypes.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr double kPseudoLabelSharpness = 10.0;  // epsilon, as published

// Weighted sums of the rows of each class.
class WeightedMeans {
 public:
  WeightedMeans(std::size_t classes, std::size_t dimension) : sums_(classes, dimension), weights_(classes, 0.0) {}

  void add(std::size_t c, std::span<const float> row, float cosine) {
    const double weight = std::exp(kPseudoLabelSharpness * static_cast<double>(cosine));
    const auto sum = sums_.row(c);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * static_cast<double>(row[j]);
    weights_[c] += weight;
  }

  Matrix<float> means() const {
    Matrix<float> result(sums_.rows(), sums_.cols());
    for (std::size_t c = 0; c < sums_.rows(); ++c) {
      for (std::size_t j = 0; j < sums_.cols(); ++j) result(c, j) = static_cast<float>(sums_(c, j) / weights_[c]);
    }
    return result;
  }

 private:
  Matrix<double> sums_;
  std::vector<double> weights_;
};

}  // namespace

RectifiedPrototypes rectify_prototypes(const LabelledExamples& support, ConstMatrixView<float> queries, int threads) {
  const Matrix<float> examples = unit_rows<float>(support.features.view());
  Matrix<float> shifted = unit_rows<float>(queries);
  const std::vector<double> towards = mean_row(examples.view());
  const std::vector<double> from = mean_row(std::as_const(shifted).view());
  for (std::size_t i = 0; i < shifted.rows(); ++i) {
    for (std::size_t j = 0; j < towards.size(); ++j) shifted(i, j) += static_cast<float>(towards[j] - from[j]);
  }
  const Head<float> basic =
      nearest_mean_head(unit_rows<double>(support.features.view()).view(), support.labels, support.classes);
  const Matrix<float> prototypes = unit_rows<float>(basic.direction.view());

  WeightedMeans rectified(support.classes, examples.cols());
  const Matrix<float> own = cosines(examples.view(), prototypes.view(), threads);
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    const auto label = static_cast<std::size_t>(support.labels[i]);
    rectified.add(label, examples.row(i), own(i, label));
  }
  const Matrix<float> with = cosines(std::as_const(shifted).view(), prototypes.view(), threads);
  for (std::size_t i = 0; i < shifted.rows(); ++i) {
    const std::size_t best = argmax(with.row(i));
    rectified.add(best, std::as_const(shifted).row(i), with(i, best));
  }
  return {rectified.means(), std::move(shifted)};
}

}  // namespace annulus
