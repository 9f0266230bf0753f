// L-BFGS by libLBFGS; loss and gradient use the library's own products and softmax.
#include "annulus/learn/baselines/softmax_regression.h"

#include <lbfgs.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {
namespace {

constexpr int kMostIterations = 1000;
// Rounding in float may stop the line search before the last steps; the result is accepted if the gradient is this much
// shorter than at the start.
constexpr double kRoundingTolerance = 1e-3;
// Problems with fewer operations per pass, such as episodes, are solved in double from the start: the losses of a few
// examples change so little from step to step that float fails. Others continue in double if float fails.
constexpr std::size_t kMostExactProducts = std::size_t{1} << 22U;

struct FreeVector {
  void operator()(lbfgsfloatval_t* values) const { lbfgs_free(values); }
};
using Parameters = std::unique_ptr<lbfgsfloatval_t, FreeVector>;  // classes x dimension weights, then the intercepts

// T: the type of the products.
template <class T>
class Regression {
 public:
  Regression(ConstMatrixView<T> rows, std::span<const std::int32_t> labels, std::size_t classes,
             const RegressionOptions& options, const ProgressCallback& progress)
      : rows_(rows),
        labels_(labels),
        options_(options),
        progress_(progress),
        weights_(classes, rows.cols()),
        gradient_(classes, rows.cols()),
        logits_(rows.rows(), classes) {}

  // Empty if rounding in float stopped the search too early.
  std::optional<Head<float>> run() {
    const std::size_t count = weights_.rows() * (weights_.cols() + 1);
    if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()) - 16) {
      fail(ErrorKind::kInput, "logistic regression expects fewer than 2^31 weights, found {} classes x {} features",
           weights_.rows(), weights_.cols());
    }
    const Parameters parameters(lbfgs_malloc(static_cast<int>(count)));
    if (!parameters) throw std::bad_alloc();
    std::fill_n(parameters.get(), count, 0.0);
    if (options_.start != nullptr) begin_at(*options_.start, parameters.get());
    lbfgs_parameter_t search;
    lbfgs_parameter_init(&search);
    search.epsilon = options_.tolerance;
    search.max_iterations = kMostIterations;
    const int code = lbfgs(static_cast<int>(count), parameters.get(), nullptr, &Regression::evaluate,
                           &Regression::advance, this, &search);
    if (stopped_by_) std::rethrow_exception(stopped_by_);
    if (code < 0 && gradient_length_ > kRoundingTolerance * first_gradient_length_) {
      if (std::is_same_v<T, float>) return std::nullopt;
      fail(ErrorKind::kInput,
           "logistic regression on {} examples found no optimum in {} steps (libLBFGS code {}, gradient {:.2g} of "
           "{:.2g})",
           rows_.rows(), steps_, code, gradient_length_, first_gradient_length_);
    }
    return head_from(parameters.get());
  }

 private:
  // `parameters` are zeros, and the length of the gradient there stays what others are compared with.
  void begin_at(const Head<float>& start, lbfgsfloatval_t* parameters) {
    const std::size_t size = weights_.rows() * weights_.cols();
    std::vector<lbfgsfloatval_t> gradient(size + weights_.rows());
    loss_and_gradient(parameters, gradient.data());
    std::copy_n(start.direction.data(), size, parameters);
    std::copy_n(start.bias.data(), weights_.rows(), parameters + size);
  }

  // libLBFGS is C: no exception may pass through it, so it is stored in stopped_by_.
  static lbfgsfloatval_t evaluate(void* self, const lbfgsfloatval_t* parameters, lbfgsfloatval_t* gradient, int count,
                                  lbfgsfloatval_t /*step*/) {
    auto& regression = *static_cast<Regression*>(self);
    try {
      return regression.loss_and_gradient(parameters, gradient);
    } catch (...) {
      regression.stopped_by_ = std::current_exception();
      std::fill_n(gradient, count, 0.0);  // looks like an optimum, which ends the search
      return 0.0;
    }
  }

  static int advance(void* self, const lbfgsfloatval_t* /*parameters*/, const lbfgsfloatval_t* /*gradient*/,
                     lbfgsfloatval_t /*loss*/, lbfgsfloatval_t /*length*/, lbfgsfloatval_t gradient_length,
                     lbfgsfloatval_t /*step*/, int /*count*/, int iteration, int /*evaluations*/) {
    auto& regression = *static_cast<Regression*>(self);
    regression.steps_ = iteration;
    regression.gradient_length_ = gradient_length;
    try {
      report(regression.progress_, {"logistic regression", static_cast<std::size_t>(iteration), 0, {}});
    } catch (...) {
      regression.stopped_by_ = std::current_exception();
    }
    return regression.stopped_by_ ? 1 : 0;
  }

  double loss_and_gradient(const lbfgsfloatval_t* parameters, lbfgsfloatval_t* gradient) {
    const std::size_t classes = weights_.rows();
    const std::size_t size = classes * weights_.cols();
    std::transform(parameters, parameters + size, weights_.data(), [](double value) { return static_cast<T>(value); });
    for (std::size_t i = 0; i < rows_.rows(); ++i) {
      for (std::size_t c = 0; c < classes; ++c) logits_(i, c) = static_cast<T>(parameters[size + c]);
    }
    gemm(Transpose::kNo, Transpose::kYes, T{1}, rows_, weights_.view(), T{1}, logits_.view(), options_.threads);
    double loss = softmax_loss_gradient(logits_.view(), labels_, T{0}, T{1}).loss;
    gemm(Transpose::kYes, Transpose::kNo, T{1}, logits_.view(), rows_, T{0}, gradient_.view(), options_.threads);
    for (std::size_t i = 0; i < size; ++i) {
      loss += options_.penalty / 2.0 * parameters[i] * parameters[i];
      gradient[i] = static_cast<double>(gradient_.data()[i]) + options_.penalty * parameters[i];
    }
    std::fill_n(gradient + size, classes, 0.0);
    for (std::size_t i = 0; i < rows_.rows(); ++i) {
      for (std::size_t c = 0; c < classes; ++c) gradient[size + c] += static_cast<double>(logits_(i, c));
    }
    if (first_gradient_length_ < 0.0) {
      first_gradient_length_ = std::sqrt(std::inner_product(gradient, gradient + size + classes, gradient, 0.0));
    }
    return loss;
  }

  Head<float> head_from(const lbfgsfloatval_t* parameters) const {
    Head<float> head{HeadKind::kLinear, Matrix<float>(weights_.rows(), weights_.cols()), {}, {}};
    const std::size_t size = weights_.rows() * weights_.cols();
    for (std::size_t i = 0; i < size; ++i) head.direction.data()[i] = static_cast<float>(parameters[i]);
    for (std::size_t c = 0; c < weights_.rows(); ++c) head.bias.push_back(static_cast<float>(parameters[size + c]));
    return head;
  }

  ConstMatrixView<T> rows_;
  std::span<const std::int32_t> labels_;
  const RegressionOptions& options_;
  const ProgressCallback& progress_;
  Matrix<T> weights_;
  Matrix<T> gradient_;
  Matrix<T> logits_;  // then their gradients
  std::exception_ptr stopped_by_;
  int steps_ = 0;
  double first_gradient_length_ = -1.0;  // negative until it is known
  double gradient_length_ = 0.0;
};

}  // namespace

Head<float> softmax_regression(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                               const RegressionOptions& options, const ProgressCallback& progress) {
  report(progress, {"logistic regression", 0, 0, {}});
  if (rows.rows() * rows.cols() * classes > kMostExactProducts) {
    if (auto found = Regression<float>(rows, labels, classes, options, progress).run()) return std::move(*found);
  }
  Matrix<double> exact(rows.rows(), rows.cols());
  for (std::size_t i = 0; i < rows.rows(); ++i) std::copy(rows.row(i).begin(), rows.row(i).end(), exact.row(i).begin());
  return std::move(*Regression<double>(exact.view(), labels, classes, options, progress).run());
}

}  // namespace annulus
