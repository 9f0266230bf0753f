// The list of methods.
#include "annulus/learn/baselines/method.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/model/prepared_head.h"

namespace annulus {

namespace {

constexpr std::string_view kNothing = "nothing is chosen";
constexpr std::string_view kRadius = "the radius, on virtual examples of the training examples";
constexpr std::string_view kRadiusAndTemperature =
    "the radius, on virtual examples of the training examples; the temperature, on held-out training examples";
constexpr std::string_view kShrinkage = "the shrinkage, by a formula on the training examples";
constexpr std::string_view kPenaltyChoice = "the penalty, by leave-one-out errors on the training examples";
constexpr std::string_view kHeldOutPenalty = "the penalty, on a fifth of the training examples";
constexpr std::string_view kCostChoice = "C, by cross-validation on the training examples";
constexpr std::string_view kAllQueries = "nothing is chosen, but all test examples, without labels, are learnt from";

constexpr Method transductive(std::string_view name, std::string_view summary, ScoreQueries* score_queries) {
  return {name, summary, kAllQueries, nullptr, false, HeadTraining::kNone, score_queries};
}

}  // namespace

std::span<const Method> methods() {
  static constexpr std::array kMethods{
      Method{"ncm", "nearest prototype", kNothing, &fit_nearest_prototype_method},
      Method{"simpleshot", "nearest prototype of centred features", kNothing, &fit_simpleshot_method},
      Method{"knn", "up to 5 nearest neighbours", kNothing, &fit_nearest_neighbours_method},
      Method{"cache", "Tip-Adapter's cache of the training examples", kNothing, &fit_cache_method},
      Method{"gda", "Gaussian discriminant analysis", kNothing, &fit_gda_method},
      Method{"lda", "linear discriminant analysis, Ledoit-Wolf shrinkage", kShrinkage, &fit_lda_method},
      Method{"fecam", "Mahalanobis distance by shrunk correlations", kNothing, &fit_fecam_method},
      Method{"ridge", "ridge regression", kNothing, &fit_ridge_method},
      Method{"ridge-cv", "ridge regression, penalty chosen by leave-one-out errors", kPenaltyChoice,
             &fit_ridge_cv_method},
      Method{"ranpac", "ridge regression on random rectified projections", kHeldOutPenalty, &fit_ranpac_method},
      Method{"logistic", "multinomial logistic regression, C 1", kNothing, &fit_logistic_method},
      Method{"logistic-cv", "multinomial logistic regression, C chosen by cross-validation", kCostChoice,
             &fit_logistic_cv_method},
      Method{"lp++", "linear probe from prototypes with the step of a Lipschitz bound", kNothing,
             &fit_lp_plus_plus_method},
      Method{"linear-svm", "linear SVM, one class against the rest, C 1", kNothing, &fit_linear_svm_method},
      Method{"svm", "linear SVM for each pair of classes, C chosen on the training examples", kCostChoice,
             &fit_svm_method},
      Method{"dc", "distribution calibration, needs base classes", kNothing, &fit_distribution_calibration_method,
             true},
      Method{"baseline", "the head trained on the training examples", kNothing, &fit_baseline_method, false,
             HeadTraining::kExamples},
      Method{"ibm2", "the head trained on virtual examples at the largest radius found", kRadius, &fit_ibm2_method,
             false, HeadTraining::kVirtualExamples},
      Method{"default", "the recipe default, as fit does", kRadiusAndTemperature, &fit_default_method},
      transductive("bd-cspn", "prototypes rectified by the test examples", &score_by_bd_cspn),
      transductive("laplacian-shot", "rectified prototypes, neighbouring test examples alike",
                   &score_by_laplacian_shot),
      transductive("tim", "mutual information of test examples and classes maximised", &score_by_tim),
      transductive("alpha-tim", "the same with entropies that allow unbalanced classes", &score_by_alpha_tim),
      transductive("pt-map", "power transform, test examples shared out evenly over the classes", &score_by_pt_map),
      transductive("transductive-finetune", "prototypes trained for confident test examples",
                   &score_by_transductive_finetune),
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

bool is_transductive(std::string_view name) {
  const auto all = methods();
  return std::any_of(all.begin(), all.end(),
                     [&](const Method& method) { return method.name == name && method.transductive(); });
}

std::string method_label(std::string_view name) {
  return fmt::format("{}{}", name, is_transductive(name) ? kTransductiveMark : "");
}

void check_methods(std::span<const std::string> names, const BaseClasses* base, std::size_t dimension) {
  if (names.empty()) fail(ErrorKind::kUsage, "expected at least one method, found none");
  for (const std::string& name : names) {
    if (method_named(name).needs_base && base == nullptr) {
      fail_field(ErrorKind::kUsage, "base_classes",
                 "expected {}, the features of other classes, for the method {}, found none", name);
    }
  }
  if (base != nullptr && base->dimension() != dimension) {
    fail(ErrorKind::kInput, "expected base classes with features of {} dimensions, found {}", dimension,
         base->dimension());
  }
}

void check_reference(std::span<const std::string> names, const std::string& wanted) {
  if (wanted.empty() || std::find(names.begin(), names.end(), wanted) != names.end()) return;
  fail(ErrorKind::kUsage, "expected to compare with one of the methods {}, found \"{}\"", fmt::join(names, ", "),
       wanted);
}

std::string reference_method(std::span<const std::string> names, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const auto baseline = std::find(names.begin(), names.end(), "baseline");
  return baseline != names.end() ? *baseline : names.front();
}

FittedMethod fitted_head(Head<float> head, bool probabilities, int threads, double temperature) {
  const auto shared = std::make_shared<const Head<float>>(std::move(head));
  FittedMethod fitted;
  fitted.predict = [shared, threads](ConstMatrixView<float> rows) { return predict_classes(*shared, rows, threads); };
  fitted.predict_and_score = [shared, threads, temperature](ConstMatrixView<float> rows, MatrixView<float> scores) {
    predict_logits(*shared, rows, scores, threads);
    // By the logits: two of them that differ may give probabilities that do not.
    std::vector<std::int32_t> classes = best_classes<float>(scores);
    to_probabilities(scores, temperature);
    return classes;
  };
  fitted.probabilities = probabilities;
  return fitted;
}

FittedMethod fitted_head(FitResult fit, int threads, double temperature) {
  FittedMethod fitted = fitted_head(std::move(fit.head), true, threads, temperature);
  fitted.epsilon = fit.epsilon;
  fitted.search = std::move(fit.search);
  return fitted;
}

void classify_by_score(std::function<void(ConstMatrixView<float>, MatrixView<float>)> score, std::size_t classes,
                       FittedMethod& fitted) {
  fitted.predict_and_score = [score = std::move(score)](ConstMatrixView<float> rows, MatrixView<float> scores) {
    score(rows, scores);
    return best_classes<float>(scores);
  };
  fitted.predict = [both = fitted.predict_and_score, classes](ConstMatrixView<float> rows) {
    Matrix<float> scores(rows.rows(), classes);
    return both(rows, scores.view());
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
