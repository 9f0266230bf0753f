// The list of methods.
#include "annulus/eval/method.h"

#include <array>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {

std::span<const Method> methods() {
  static constexpr std::array kMethods{
      Method{"ncm", "nearest class mean", &fit_nearest_class_mean_method},
      Method{"simpleshot", "nearest class mean of centred features", &fit_simpleshot_method},
      Method{"knn", "up to 5 nearest neighbours", &fit_nearest_neighbours_method},
      Method{"cache", "Tip-Adapter's cache of the training rows", &fit_cache_method},
      Method{"ridge", "ridge regression", &fit_ridge_method},
      Method{"logistic", "multinomial logistic regression, C 1", &fit_logistic_method},
      Method{"linear-svm", "linear SVM, one class against the rest, C 1", &fit_linear_svm_method},
      Method{"svm", "linear SVM for each pair of classes, C chosen on the training rows", &fit_svm_method},
      Method{"dc", "distribution calibration, needs base classes", &fit_calibration_method, true},
      Method{"baseline", "the head trained on the originals", &fit_baseline_method},
      Method{"ibm2", "the head trained on virtual examples at the largest radius found", &fit_ibm2_method},
      Method{"default", "ibm2 by the default recipe, as fit does", &fit_default_method},
  };
  return kMethods;
}

const Method& method_named(std::string_view name) {
  std::string known;
  for (const Method& method : methods()) {
    if (method.name == name) return method;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", method.name);
  }
  fail(ErrorKind::kUsage, "method \"{}\" is unknown; expected one of {}", name, known);
}

void check_methods(std::span<const std::string> names, const BaseClasses* base, std::size_t dimension) {
  if (names.empty()) fail(ErrorKind::kUsage, "expected at least one method, found none");
  for (const std::string& name : names) {
    if (method_named(name).needs_base && base == nullptr) {
      fail(ErrorKind::kUsage, "method {} expects the features of base classes (--base FILE), found none", name);
    }
  }
  if (base != nullptr && base->dimension() != dimension) {
    fail(ErrorKind::kInput, "expected base classes with features of {} numbers, found {}", dimension,
         base->dimension());
  }
}

FittedMethod fitted_head(Head<float> head, double epsilon, int threads) {
  const auto shared = std::make_shared<const Head<float>>(std::move(head));
  return {[shared, threads](ConstMatrixView<float> rows) { return predict_classes(*shared, rows, threads); }, epsilon};
}

template <class T>
std::vector<std::int32_t> best_classes(ConstMatrixView<T> scores) {
  std::vector<std::int32_t> classes;
  for (std::size_t i = 0; i < scores.rows(); ++i) classes.push_back(static_cast<std::int32_t>(argmax(scores.row(i))));
  return classes;
}

template std::vector<std::int32_t> best_classes(ConstMatrixView<float> scores);
template std::vector<std::int32_t> best_classes(ConstMatrixView<double> scores);

}  // namespace annulus
