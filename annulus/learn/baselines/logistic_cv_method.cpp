// Logistic regression with C chosen by cross-validation as a method: scikit-learn's LogisticRegressionCV with the Cs
// below and as many folds as the smallest class has examples, at most five.
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "annulus/base/parallel_progress.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/softmax_regression.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr std::array kInverseCosts{0.1, 1.0, 10.0, 100.0, 1000.0};  // C
constexpr double kOneShotInverse = 1.0;
constexpr std::size_t kFoldLimit = 5;
// With large C the loss hardly curves: scikit-learn, too, ends nearer to the optimum there.
constexpr double kPathTolerance = 1e-5;

// With two classes scikit-learn has one weight vector: see logistic_method.cpp.
double penalty_of(double inverse, std::size_t classes) { return (classes == 2 ? 2.0 : 1.0) / inverse; }

// The fold of each example, as scikit-learn's StratifiedKFold without shuffling: sorted by class, examples are dealt to
// the folds in turn, which fixes how many of each class a fold holds out; it holds out consecutive ones.
std::vector<std::size_t> stratified_folds(std::span<const std::int32_t> labels, std::size_t classes,
                                          std::size_t folds) {
  const std::vector<std::size_t> counts = class_counts(labels, classes);
  std::vector<std::vector<std::size_t>> fold_of_member(classes);
  std::size_t dealt = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t i = 0; i < counts[c]; ++i) fold_of_member[c].push_back(dealt++ % folds);
    std::sort(fold_of_member[c].begin(), fold_of_member[c].end());
  }
  std::vector<std::size_t> seen(classes, 0);
  std::vector<std::size_t> result;
  for (const std::int32_t label : labels) {
    const auto own = static_cast<std::size_t>(label);
    result.push_back(fold_of_member[own][seen[own]++]);
  }
  return result;
}

struct FoldRows {
  Matrix<float> rows;
  std::vector<std::int32_t> labels;
};

template <class Chosen>
FoldRows select_rows(const Matrix<float>& rows, std::span<const std::int32_t> labels, const Chosen& chosen) {
  FoldRows result;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!chosen(i)) continue;
    indices.push_back(i);
    result.labels.push_back(labels[i]);
  }
  result.rows = Matrix<float>(indices.size(), rows.cols());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::copy(rows.row(indices[i]).begin(), rows.row(indices[i]).end(), result.rows.row(i).begin());
  }
  return result;
}

// The fraction of the held-out examples that each C names correctly. The regressions start from that of the C before.
std::array<double, kInverseCosts.size()> held_out_accuracies(const FoldRows& kept, const FoldRows& held_out,
                                                             std::size_t classes, int threads) {
  std::array<double, kInverseCosts.size()> result{};
  Head<float> head;
  for (std::size_t k = 0; k < kInverseCosts.size(); ++k) {
    RegressionOptions options{penalty_of(kInverseCosts[k], classes), kPathTolerance, threads};
    if (k > 0) options.start = &head;
    head = softmax_regression(kept.rows.view(), kept.labels, classes, options, {});
    Matrix<float> logits(held_out.rows.rows(), classes);
    compute_logits(head, held_out.rows.view(), logits.view(), threads);
    const std::vector<std::int32_t> named = best_classes<float>(logits.view());
    std::size_t correct = 0;
    for (std::size_t i = 0; i < named.size(); ++i)
      correct += named[i] == held_out.labels[i] ? std::size_t{1} : std::size_t{0};
    result[k] = static_cast<double>(correct) / static_cast<double>(named.size());
  }
  return result;
}

// The C with the highest accuracy, averaged over folds; the least of equal ones.
double choose_inverse_cost(const Matrix<float>& rows, const LabelledExamples& support, int threads,
                           const ProgressCallback& progress) {
  const std::vector<std::size_t> counts = class_counts(support.labels, support.classes);
  const std::size_t folds = std::min(kFoldLimit, *std::min_element(counts.begin(), counts.end()));
  if (folds < 2) return kOneShotInverse;
  const std::vector<std::size_t> fold_of = stratified_folds(support.labels, support.classes, folds);
  std::vector<std::array<double, kInverseCosts.size()>> accuracies(folds);
  parallel_for_with_progress(threads, folds, "logistic regression", progress, [&](std::size_t fold) {
    accuracies[fold] = held_out_accuracies(
        select_rows(rows, support.labels, [&](std::size_t i) { return fold_of[i] != fold; }),
        select_rows(rows, support.labels, [&](std::size_t i) { return fold_of[i] == fold; }), support.classes, threads);
  });
  std::array<double, kInverseCosts.size()> sums{};
  for (const auto& each : accuracies) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += each[k];
  }
  return kInverseCosts[static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())];
}

}  // namespace

FittedMethod fit_logistic_cv_method(const LabelledExamples& support, const MethodContext& context,
                                    const ProgressCallback& progress) {
  report(progress, {"logistic regression", 0, 0, {}});
  const Matrix<float> rows = unit_rows<float>(support.features.view());
  RegressionOptions options;
  options.penalty = penalty_of(choose_inverse_cost(rows, support, context.threads(), progress), support.classes);
  options.tolerance = kPathTolerance;
  options.threads = context.threads();
  return fitted_head(softmax_regression(rows.view(), support.labels, support.classes, options, progress), true,
                     context.threads());
}

}  // namespace annulus
