// LP++ (Huang et al., CVPR 2024) as a method, image side only: a linear probe by gradient descent on all training
// examples, whose start and step follow from the features. The text branch and its blending have no counterpart here.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "annulus/kernels/gemm.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr std::size_t kSteps = 300;  // as published; the last is taken, where the paper asks validation examples
constexpr float kMomentum = 0.9F;    // as published
constexpr std::size_t kPowerSteps = 1000;
constexpr double kPowerTolerance = 1e-6;

// The largest eigenvalue of rows^T rows, by the power method.
double largest_eigenvalue(ConstMatrixView<float> rows, int threads) {
  Matrix<float> vector(1, rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.cols(); ++j) vector(0, j) += rows(i, j);
  }
  vector(0, 0) += 1.0F;  // rows may sum to zero
  Matrix<float> along(1, rows.rows());
  double value = 0.0;
  for (std::size_t step = 0; step < kPowerSteps; ++step) {
    const Matrix<float> unit = unit_rows<float>(vector.view());
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, unit.view(), rows, 0.0F, along.view(), threads);
    gemm(Transpose::kNo, Transpose::kNo, 1.0F, along.view(), rows, 0.0F, vector.view(), threads);
    double next = 0.0;
    for (const float each : along.row(0)) next += static_cast<double>(each) * static_cast<double>(each);
    const bool settled = next - value <= kPowerTolerance * next;
    value = next;
    if (settled) break;
  }
  return value;
}

// One gradient step with momentum on the mean cross-entropy: velocity = momentum * velocity + gradient.
class ProbeTraining {
 public:
  ProbeTraining(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes, int threads)
      : rows_(rows),
        labels_(labels),
        threads_(threads),
        head_{HeadKind::kLinear, Matrix<float>(classes, rows.cols()), {}, std::vector<float>(classes, 0.0F)},
        velocity_(classes, rows.cols()),
        bias_velocity_(classes, 0.0F),
        logits_(rows.rows(), classes) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto weights = head_.direction.row(static_cast<std::size_t>(labels[i]));
      std::transform(weights.begin(), weights.end(), rows.row(i).begin(), weights.begin(), std::plus<>());
    }
  }

  void step(float rate) {
    compute_logits(head_, rows_, logits_.view(), threads_);
    softmax_loss_gradient(logits_.view(), labels_, 0.0F, 1.0F / static_cast<float>(rows_.rows()));
    gemm(Transpose::kYes, Transpose::kNo, 1.0F, logits_.view(), rows_, kMomentum, velocity_.view(), threads_);
    for (float& value : bias_velocity_) value *= kMomentum;
    for (std::size_t i = 0; i < logits_.rows(); ++i) {
      for (std::size_t c = 0; c < bias_velocity_.size(); ++c) bias_velocity_[c] += logits_(i, c);
    }
    for (std::size_t i = 0; i < velocity_.rows() * velocity_.cols(); ++i) {
      head_.direction.data()[i] -= rate * velocity_.data()[i];
    }
    for (std::size_t c = 0; c < bias_velocity_.size(); ++c) head_.bias[c] -= rate * bias_velocity_[c];
  }

  Head<float> take() { return std::move(head_); }

 private:
  ConstMatrixView<float> rows_;
  std::span<const std::int32_t> labels_;
  int threads_;
  Head<float> head_;  // starts from the sums of each class's rows, as the authors' program does
  Matrix<float> velocity_;
  std::vector<float> bias_velocity_;
  Matrix<float> logits_;  // then their gradients
};

}  // namespace

// The step is 4 M / lambda with M examples and lambda the largest eigenvalue of their products: one over the bound that
// a quarter of the mean squared features sets to the curvature of the loss.
FittedMethod fit_lp_plus_plus_method(const LabelledExamples& support, const MethodContext& context,
                                     const ProgressCallback& progress) {
  const Matrix<float> rows = unit_rows<float>(support.features.view());
  ProbeTraining training(rows.view(), support.labels, support.classes, context.threads());
  const double eigenvalue = largest_eigenvalue(rows.view(), context.threads());
  const double rate = 4.0 * static_cast<double>(rows.rows()) / std::max(eigenvalue, 1e-12);
  for (std::size_t step = 0; step < kSteps; ++step) {
    report(progress, {"lp++", step, kSteps, {}});
    training.step(static_cast<float>(rate));
  }
  return fitted_head(training.take(), true, context.threads());
}

}  // namespace annulus
