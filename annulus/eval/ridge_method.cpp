// Ridge regression onto +1 (own class) and -1 (others) as a method: scikit-learn's RidgeClassifier with alpha 1.
#include <Eigen/Cholesky>
#include <cstddef>
#include <utility>

#include "annulus/eval/method.h"
#include "annulus/eval/unit_rows.h"

namespace annulus {
namespace {

constexpr double kPenalty = 1.0;  // alpha

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Solves (a a^T + alpha) x = b, or with the transpose of a in place of a; only the lower half of the product is formed.
template <class Factor, class Target>
RowMajor solve(const Factor& a, const Target& b) {
  RowMajor gram = RowMajor::Zero(a.rows(), a.rows());
  gram.template selfadjointView<Eigen::Lower>().rankUpdate(a);
  gram.diagonal().array() += kPenalty;
  return gram.template selfadjointView<Eigen::Lower>().llt().solve(b);
}

}  // namespace

// Rows and targets are centred, which gives the intercept without a penalty on it. The weights x^T (x x^T + alpha)^-1 y
// and (x^T x + alpha)^-1 x^T y are the same; the smaller of the two systems is solved.
FittedMethod fit_ridge_method(const LabelledRows& support, const MethodContext& context,
                              const ProgressCallback& progress) {
  report(progress, {"ridge", 0, 1, {}});
  const Matrix<double> unit = unit_rows<double>(support.features.view());
  RowMajor x = Eigen::Map<const RowMajor>(unit.data(), static_cast<Eigen::Index>(unit.rows()),
                                          static_cast<Eigen::Index>(unit.cols()));
  RowMajor y = RowMajor::Constant(x.rows(), static_cast<Eigen::Index>(support.classes), -1.0);
  for (std::size_t i = 0; i < support.labels.size(); ++i) y(static_cast<Eigen::Index>(i), support.labels[i]) = 1.0;
  const Eigen::RowVectorXd row_mean = x.colwise().mean();
  const Eigen::RowVectorXd target_mean = y.colwise().mean();
  x.rowwise() -= row_mean;
  y.rowwise() -= target_mean;
  const RowMajor weights =
      x.rows() <= x.cols() ? RowMajor(x.transpose() * solve(x, y)) : solve(x.transpose(), x.transpose() * y);
  const Eigen::RowVectorXd bias = target_mean - row_mean * weights;

  Head<float> head{HeadKind::kLinear, Matrix<float>(support.classes, unit.cols()), {}, {}};
  for (Eigen::Index c = 0; c < weights.cols(); ++c) {
    const auto direction = head.direction.row(static_cast<std::size_t>(c));
    for (std::size_t j = 0; j < direction.size(); ++j) {
      direction[j] = static_cast<float>(weights(static_cast<Eigen::Index>(j), c));
    }
    head.bias.push_back(static_cast<float>(bias(c)));
  }
  return fitted_head(std::move(head), false, context.threads());
}

}  // namespace annulus
