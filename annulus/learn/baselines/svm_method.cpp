// Support vector machine with a linear kernel as a method: LIBSVM, with C chosen on the training examples alone.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/baselines/voting_svm.h"

namespace annulus {
namespace {

constexpr double kCostOfOneShot = 1.0;  // a class with one example leaves nothing for cross-validation
constexpr std::size_t kRowsPerTask = 64;

struct Fitted {
  VotingSvm machine;
  Matrix<float> rows;
};

// Calls use(row number, products with the training examples), several rows at a time.
template <class Use>
void for_each_row(const Fitted& fitted, ConstMatrixView<float> rows, int threads, const Use& use) {
  const Matrix<float> products = cosines(rows, fitted.rows.view(), threads);
  parallel_for(threads, (rows.rows() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(rows.rows(), (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) use(i, products.row(i));
  });
}

std::vector<std::int32_t> predict(const Fitted& fitted, ConstMatrixView<float> rows, int threads) {
  std::vector<std::int32_t> classes(rows.rows());
  for_each_row(fitted, rows, threads,
               [&](std::size_t i, std::span<const float> products) { classes[i] = fitted.machine.vote(products); });
  return classes;
}

std::vector<std::int32_t> predict_and_score(const Fitted& fitted, ConstMatrixView<float> rows, MatrixView<float> scores,
                                            int threads) {
  const auto classes = fitted.machine.classes();
  std::vector<std::int32_t> predictions(rows.rows());
  for_each_row(fitted, rows, threads, [&](std::size_t i, std::span<const float> products) {
    const std::vector<std::size_t> votes = fitted.machine.votes(products);
    std::fill(scores.row(i).begin(), scores.row(i).end(), 0.0F);
    for (std::size_t c = 0; c < votes.size(); ++c) {
      scores(i, static_cast<std::size_t>(classes[c])) = static_cast<float>(votes[c]);
    }
    predictions[i] = fitted.machine.winner(votes);
  });
  return predictions;
}

bool one_row_somewhere(const LabelledExamples& support) {
  const std::vector<std::size_t> counts = class_counts(support.labels, support.classes);
  return *std::min_element(counts.begin(), counts.end()) < 2;
}

double cost_for(const LabelledExamples& support, const SvmProducts& products, const MethodContext& context,
                const ProgressCallback& progress) {
  if (context.recipe.svm_cost) return *context.recipe.svm_cost;
  return one_row_somewhere(support) ? kCostOfOneShot : choose_svm_cost(products, context.threads(), progress);
}

}  // namespace

FittedMethod fit_svm_method(const LabelledExamples& support, const MethodContext& context,
                            const ProgressCallback& progress) {
  const SvmProducts products(unit_rows<double>(support.features.view()).view(), support.labels);
  const double cost = cost_for(support, products, context, progress);
  std::vector<std::size_t> all(support.labels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto fitted =
      std::make_shared<const Fitted>(Fitted{VotingSvm(products, all, cost), unit_rows<float>(support.features.view())});
  FittedMethod result;
  result.predict = [fitted, threads = context.threads()](ConstMatrixView<float> rows) {
    return predict(*fitted, rows, threads);
  };
  result.predict_and_score = [fitted, threads = context.threads()](ConstMatrixView<float> rows,
                                                                   MatrixView<float> scores) {
    return predict_and_score(*fitted, rows, scores, threads);
  };
  return result;
}

}  // namespace annulus
