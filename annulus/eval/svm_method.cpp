// Support vector machine with a linear kernel as a method: LIBSVM, its cost chosen on the training rows alone.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/eval/method.h"
#include "annulus/eval/unit_rows.h"
#include "annulus/eval/voting_svm.h"

namespace annulus {
namespace {

constexpr double kCostOfOneShot = 1.0;  // a class with one row leaves nothing to choose by
constexpr std::size_t kRowsPerTask = 64;

struct Fitted {
  VotingSvm machine;
  Matrix<float> rows;
};

bool one_row_somewhere(const LabelledRows& support) {
  std::vector<std::size_t> counts(support.classes, 0);
  for (const std::int32_t label : support.labels) ++counts[static_cast<std::size_t>(label)];
  return *std::min_element(counts.begin(), counts.end()) < 2;
}

std::vector<std::int32_t> predict(const Fitted& fitted, ConstMatrixView<float> rows, int threads) {
  const Matrix<float> products = cosines(rows, fitted.rows.view(), threads);
  std::vector<std::int32_t> classes(rows.rows());
  parallel_for(threads, (classes.size() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
    const std::size_t end = std::min(classes.size(), (task + 1) * kRowsPerTask);
    for (std::size_t i = task * kRowsPerTask; i < end; ++i) classes[i] = fitted.machine.vote(products.row(i));
  });
  return classes;
}

}  // namespace

FittedMethod fit_svm_method(const LabelledRows& support, const MethodContext& context,
                            const ProgressCallback& progress) {
  report(progress, {"svm", 0, 2, {}});
  const SvmProducts products(unit_rows<double>(support.features.view()).view(), support.labels);
  const double cost = one_row_somewhere(support) ? kCostOfOneShot : choose_svm_cost(products, context.threads());
  report(progress, {"svm", 1, 2, fmt::format("C {}", cost)});
  std::vector<std::size_t> all(support.labels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto fitted =
      std::make_shared<const Fitted>(Fitted{VotingSvm(products, all, cost), unit_rows<float>(support.features.view())});
  return {[fitted = std::move(fitted), threads = context.threads()](ConstMatrixView<float> rows) {
            return predict(*fitted, rows, threads);
          },
          0.0};
}

}  // namespace annulus
