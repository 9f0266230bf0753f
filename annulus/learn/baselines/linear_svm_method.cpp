// Linear support vector machine as a method: squared hinge loss, one class against the rest, C 1, by LIBLINEAR;
// scikit-learn's LinearSVC.
#include <linear.h>

#include <Eigen/QR>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/base/parallel_progress.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr double kCost = 1.0;
// Relative to the length of the gradient at the start; LIBLINEAR divides it by the fraction of the rarer label.
constexpr double kSolverTolerance = 1e-3;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ColumnMajor = Eigen::MatrixXd;

// Rows in coordinates that preserve their inner products, and the way back: with fewer rows than features, an
// orthonormal basis of their span replaces the features. The weights of an SVM lie in that span, so it is the same SVM,
// solved in 5 dimensions for an episode of 5 examples of 2048 dimensions.
class Coordinates {
 public:
  explicit Coordinates(const Matrix<double>& unit) {
    const Eigen::Map<const RowMajor> x(unit.data(), static_cast<Eigen::Index>(unit.rows()),
                                       static_cast<Eigen::Index>(unit.cols()));
    if (x.rows() >= x.cols()) {
      rows_ = x;
      return;
    }
    const Eigen::HouseholderQR<ColumnMajor> factors(x.transpose());
    rows_ = factors.matrixQR().topRows(x.rows()).triangularView<Eigen::Upper>().transpose();
    basis_ = factors.householderQ() * ColumnMajor::Identity(x.cols(), x.rows());
  }

  const RowMajor& rows() const { return rows_; }
  // Converts weights in coordinates (one column per class) to weights of features.
  ColumnMajor features(const ColumnMajor& weights) const { return basis_.size() == 0 ? weights : basis_ * weights; }

 private:
  RowMajor rows_;
  ColumnMajor basis_;
};

// The rows as LIBLINEAR takes them: nonzero entries by index from 1, then the constant entry of the intercept.
class SparseRows {
 public:
  explicit SparseRows(const RowMajor& rows) : entries_(static_cast<int>(rows.cols()) + 1) {
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      starts_.push_back(nodes_.size());
      for (Eigen::Index j = 0; j < rows.cols(); ++j) {
        if (rows(i, j) != 0.0) nodes_.push_back({static_cast<int>(j) + 1, rows(i, j)});
      }
      nodes_.push_back({entries_, 1.0});
      nodes_.push_back({-1, 0.0});
    }
    for (const std::size_t start : starts_) rows_.push_back(nodes_.data() + start);
  }

  int entries() const { return entries_; }  // with the intercept
  // LIBLINEAR takes pointers to mutable rows and does not change them.
  feature_node** rows() const { return const_cast<feature_node**>(rows_.data()); }
  int count() const { return static_cast<int>(rows_.size()); }

 private:
  int entries_;
  std::vector<feature_node> nodes_;
  std::vector<std::size_t> starts_;
  std::vector<feature_node*> rows_;
};

struct DestroyModel {
  void operator()(model* owned) const { free_and_destroy_model(&owned); }
};

// Weights of one class against the rest, the intercept last. The trust-region solver uses no random numbers and no
// state, so calls may run in parallel; the coordinate descent that LinearSVC uses calls rand(). Both have the same
// optimum.
std::vector<double> train_against_rest(const SparseRows& rows, std::span<const std::int32_t> labels,
                                       std::size_t of_class) {
  std::vector<double> targets;
  for (const std::int32_t label : labels) targets.push_back(static_cast<std::size_t>(label) == of_class ? 1.0 : -1.0);
  problem training{};
  training.l = rows.count();
  training.n = rows.entries();
  training.y = targets.data();
  training.x = rows.rows();
  training.bias = 1.0;
  parameter options{};
  options.solver_type = L2R_L2LOSS_SVC;
  options.eps = kSolverTolerance;
  options.C = kCost;
  options.p = 0.1;
  const std::unique_ptr<model, DestroyModel> found(::train(&training, &options));
  return {found->w, found->w + rows.entries()};
}

// LIBLINEAR prints its progress unless it is given another function, which all threads share.
void silence() {
  static const bool kSilenced = [] {
    set_print_string_function([](const char*) {});
    return true;
  }();
  static_cast<void>(kSilenced);
}

}  // namespace

FittedMethod fit_linear_svm_method(const LabelledExamples& support, const MethodContext& context,
                                   const ProgressCallback& progress) {
  silence();
  const Coordinates coordinates(unit_rows<double>(support.features.view()));
  const SparseRows rows(coordinates.rows());
  ColumnMajor found(rows.entries(), static_cast<Eigen::Index>(support.classes));
  parallel_for_with_progress(context.threads(), support.classes, "linear svm", progress, [&](std::size_t c) {
    const std::vector<double> weights = train_against_rest(rows, support.labels, c);
    found.col(static_cast<Eigen::Index>(c)) = Eigen::Map<const Eigen::VectorXd>(weights.data(), rows.entries());
  });

  const ColumnMajor weights = coordinates.features(found.topRows(rows.entries() - 1));
  Head<float> head{HeadKind::kLinear, Matrix<float>(support.classes, support.features.cols()), {}, {}};
  for (Eigen::Index c = 0; c < found.cols(); ++c) {
    const auto direction = head.direction.row(static_cast<std::size_t>(c));
    for (std::size_t j = 0; j < direction.size(); ++j) {
      direction[j] = static_cast<float>(weights(static_cast<Eigen::Index>(j), c));
    }
    head.bias.push_back(static_cast<float>(found(rows.entries() - 1, c)));
  }
  return fitted_head(std::move(head), false, context.threads());
}

}  // namespace annulus
