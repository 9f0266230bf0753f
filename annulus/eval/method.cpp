// The list of methods.
#include "annulus/eval/method.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/prediction.h"

namespace annulus {

namespace {

constexpr std::string_view kNothing = "nothing is chosen";
constexpr std::string_view kRadius = "the radius, on virtual examples of the support rows";
constexpr std::string_view kRadiusAndTemperature =
    "the radius, on virtual examples of the support rows; the temperature, on support rows left out in turn";
constexpr std::string_view kCostChoice = "C, on support rows left out in turn";

}  // namespace

std::span<const Method> methods() {
  static constexpr std::array kMethods{
      Method{"ncm", "nearest class mean", kNothing, &fit_nearest_class_mean_method},
      Method{"simpleshot", "nearest class mean of centred features", kNothing, &fit_simpleshot_method},
      Method{"knn", "up to 5 nearest neighbours", kNothing, &fit_nearest_neighbours_method},
      Method{"cache", "Tip-Adapter's cache of the training rows", kNothing, &fit_cache_method},
      Method{"ridge", "ridge regression", kNothing, &fit_ridge_method},
      Method{"logistic", "multinomial logistic regression, C 1", kNothing, &fit_logistic_method},
      Method{"linear-svm", "linear SVM, one class against the rest, C 1", kNothing, &fit_linear_svm_method},
      Method{"svm", "linear SVM for each pair of classes, C chosen on the training rows", kCostChoice, &fit_svm_method},
      Method{"dc", "distribution calibration, needs base classes", kNothing, &fit_calibration_method, true},
      Method{"baseline", "the head trained on the originals", kNothing, &fit_baseline_method, false, true},
      Method{"ibm2", "the head trained on virtual examples at the largest radius found", kRadius, &fit_ibm2_method,
             false, true},
      Method{"default", "ibm2 by the default recipe, as fit does", kRadiusAndTemperature, &fit_default_method},
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

void check_reference(std::span<const std::string> names, const std::string& asked) {
  if (asked.empty() || std::find(names.begin(), names.end(), asked) != names.end()) return;
  fail(ErrorKind::kUsage, "expected to compare with one of the methods {}, found \"{}\"", fmt::join(names, ", "),
       asked);
}

std::string reference_method(std::span<const std::string> names, const std::string& asked) {
  if (!asked.empty()) return asked;
  const auto baseline = std::find(names.begin(), names.end(), "baseline");
  return baseline != names.end() ? *baseline : names.front();
}

FittedMethod fitted_head(Head<float> head, bool probabilities, int threads) {
  const auto shared = std::make_shared<const Head<float>>(std::move(head));
  FittedMethod fitted;
  fitted.predict = [shared, threads](ConstMatrixView<float> rows) { return predict_classes(*shared, rows, threads); };
  fitted.score = [shared, threads](ConstMatrixView<float> rows, MatrixView<float> scores) {
    predict_probabilities(*shared, 1.0, rows, scores, threads);
  };
  fitted.probabilities = probabilities;
  return fitted;
}

FittedMethod fitted_head(FitResult fit, int threads) {
  FittedMethod fitted = fitted_head(std::move(fit.head), true, threads);
  fitted.epsilon = fit.epsilon;
  fitted.search = std::move(fit.search);
  return fitted;
}

std::function<std::vector<std::int32_t>(ConstMatrixView<float>)> best_by_score(
    std::function<void(ConstMatrixView<float>, MatrixView<float>)> score, std::size_t classes) {
  return [score = std::move(score), classes](ConstMatrixView<float> rows) {
    Matrix<float> scores(rows.rows(), classes);
    score(rows, scores.view());
    return best_classes<float>(scores.view());
  };
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
