// Trains LIBSVM at one cost and lets its machines vote.
#include "annulus/eval/svm_at_cost.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "annulus/base/parallel.h"
#include "annulus/eval/unit_rows.h"
#include "annulus/eval/voting_svm.h"

namespace annulus {
namespace {

constexpr std::size_t kRowsPerTask = 64;

struct Fitted {
  VotingSvm machine;
  Matrix<float> rows;
};

}  // namespace

FittedMethod fit_svm_at_cost(const LabelledRows& support, double cost, int threads) {
  const SvmProducts products(unit_rows<double>(support.features.view()).view(), support.labels);
  std::vector<std::size_t> all(support.labels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto fitted =
      std::make_shared<const Fitted>(Fitted{VotingSvm(products, all, cost), unit_rows<float>(support.features.view())});
  FittedMethod result;
  result.predict = [fitted, threads](ConstMatrixView<float> rows) {
    const Matrix<float> cosine = cosines(rows, fitted->rows.view(), threads);
    std::vector<std::int32_t> classes(rows.rows());
    parallel_for(threads, (classes.size() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
      const std::size_t end = std::min(classes.size(), (task + 1) * kRowsPerTask);
      for (std::size_t i = task * kRowsPerTask; i < end; ++i) classes[i] = fitted->machine.vote(cosine.row(i));
    });
    return classes;
  };
  return result;
}

}  // namespace annulus
