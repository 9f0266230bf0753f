// Trains LIBSVM at one cost and lets its machines vote.
#include "annulus/eval/svm_at_cost.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/eval/unit_rows.h"
#include "annulus/eval/voting_svm.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsPerTask = 64;
constexpr std::size_t kRowsPerBlock = 4096;  // test rows that are widened and classified at once

struct Fitted {
  VotingSvm machine;
  Matrix<float> rows;
};

// Calls use(row number, products with the training rows), several rows at a time.
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

void score(const Fitted& fitted, ConstMatrixView<float> rows, MatrixView<float> scores, int threads) {
  const auto classes = fitted.machine.classes();
  for_each_row(fitted, rows, threads, [&](std::size_t i, std::span<const float> products) {
    const std::vector<std::size_t> votes = fitted.machine.votes(products);
    std::fill(scores.row(i).begin(), scores.row(i).end(), 0.0F);
    for (std::size_t c = 0; c < votes.size(); ++c) {
      scores(i, static_cast<std::size_t>(classes[c])) = static_cast<float>(votes[c]);
    }
  });
}

}  // namespace

FittedMethod fit_svm_at_cost(const SvmProducts& products, const LabelledRows& support, double cost, int threads) {
  std::vector<std::size_t> all(support.labels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto fitted =
      std::make_shared<const Fitted>(Fitted{VotingSvm(products, all, cost), unit_rows<float>(support.features.view())});
  FittedMethod result;
  result.predict = [fitted, threads](ConstMatrixView<float> rows) { return predict(*fitted, rows, threads); };
  result.score = [fitted, threads](ConstMatrixView<float> rows, MatrixView<float> scores) {
    score(*fitted, rows, scores, threads);
  };
  return result;
}

FittedMethod fit_svm_at_cost(const LabelledRows& support, double cost, int threads) {
  const SvmProducts products(unit_rows<double>(support.features.view()).view(), support.labels);
  return fit_svm_at_cost(products, support, cost, threads);
}

ManyWayRun evaluate_svm_at_cost(const FeatureSet& training, const FeatureSet& test, double cost, int threads) {
  std::vector<std::uint32_t> all(training.rows());
  std::iota(all.begin(), all.end(), 0U);
  const FittedMethod fitted = fit_svm_at_cost(gather(training, all), cost, threads);
  const auto class_map = map_classes(test, training.class_names());
  std::size_t hits = 0;
  Matrix<float> block(std::min(kRowsPerBlock, test.rows()), test.dimension());
  for (std::size_t first = 0; first < test.rows(); first += kRowsPerBlock) {
    const auto rows = block.view().rows_at(0, std::min(kRowsPerBlock, test.rows() - first));
    test.copy_rows(first, rows);
    const auto classes = fitted.predict(rows);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] == class_map[static_cast<std::size_t>(test.labels()[first + i])]) ++hits;
    }
  }
  ManyWayRun run;
  run.accuracy = 100.0 * static_cast<double>(hits) / static_cast<double>(test.rows());
  run.support_rows = training.rows();
  run.query_rows = test.rows();
  return run;
}

}  // namespace annulus
