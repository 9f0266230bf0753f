// Tip-Adapter's key-value cache (Zhang et al., 2022) as a method, its image side alone: training rows are keys, their
// labels values, and a row of cosine c to a key takes exp(-beta (1 - c)) of its value.
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/eval/method.h"
#include "annulus/eval/unit_rows.h"

namespace annulus {
namespace {

constexpr double kSharpness = 5.5;  // beta, as published

struct Cache {
  Matrix<float> keys;
  std::vector<std::int32_t> labels;
  std::size_t classes = 0;
};

}  // namespace

FittedMethod fit_cache_method(const LabelledRows& support, const MethodContext& context,
                              const ProgressCallback& progress) {
  report(progress, {"cache", 0, 1, {}});
  auto cache =
      std::make_shared<const Cache>(Cache{unit_rows<float>(support.features.view()), support.labels, support.classes});
  return {[cache = std::move(cache), threads = context.threads()](ConstMatrixView<float> rows) {
            const Matrix<float> cosine = cosines(rows, cache->keys.view(), threads);
            Matrix<double> scores(rows.rows(), cache->classes);
            for (std::size_t i = 0; i < rows.rows(); ++i) {
              for (std::size_t j = 0; j < cosine.cols(); ++j) {
                const auto label = static_cast<std::size_t>(cache->labels[j]);
                scores(i, label) += std::exp(-kSharpness * (1.0 - static_cast<double>(cosine(i, j))));
              }
            }
            return best_classes<double>(scores.view());
          },
          0.0};
}

}  // namespace annulus
