// Tip-Adapter's key-value cache (Zhang et al., 2022) as a method, image features only: training examples are keys,
// their labels are values, and a query with cosine c to a key gets exp(-beta (1 - c)) of its value.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {
namespace {

constexpr double kSharpness = 5.5;  // beta, as published

struct Cache {
  Matrix<float> keys;
  std::vector<std::int32_t> labels;
  std::size_t classes = 0;
};

Matrix<double> scores_of(const Cache& cache, ConstMatrixView<float> rows, int threads) {
  const Matrix<float> cosine = cosines(rows, cache.keys.view(), threads);
  Matrix<double> scores(rows.rows(), cache.classes);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < cosine.cols(); ++j) {
      const auto label = static_cast<std::size_t>(cache.labels[j]);
      scores(i, label) += std::exp(-kSharpness * (1.0 - static_cast<double>(cosine(i, j))));
    }
  }
  return scores;
}

}  // namespace

FittedMethod fit_cache_method(const LabelledExamples& support, const MethodContext& context,
                              const ProgressCallback& progress) {
  report(progress, {"cache", 0, 1, {}});
  const auto cache =
      std::make_shared<const Cache>(Cache{unit_rows<float>(support.features.view()), support.labels, support.classes});
  FittedMethod fitted;
  fitted.predict = [cache, threads = context.threads()](ConstMatrixView<float> rows) {
    return best_classes<double>(scores_of(*cache, rows, threads).view());
  };
  fitted.predict_and_score = [cache, threads = context.threads()](ConstMatrixView<float> rows, MatrixView<float> out) {
    const Matrix<double> scores = scores_of(*cache, rows, threads);
    for (std::size_t i = 0; i < scores.rows(); ++i) {
      std::transform(scores.row(i).begin(), scores.row(i).end(), out.row(i).begin(),
                     [](double value) { return static_cast<float>(value); });
    }
    return best_classes<double>(scores.view());
  };
  return fitted;
}

}  // namespace annulus
