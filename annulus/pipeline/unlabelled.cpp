// Loads a pool, checks that it belongs to the training examples, and learns its metric.
#include "annulus/pipeline/unlabelled.h"

#include <fmt/format.h>

#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/learn/transform/pool_metric.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/pipeline/pool_set.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

FeatureSet load_unlabelled(const std::filesystem::path& path, const FeatureSet& training, const LoadOptions& options) {
  LoadOptions loading = options;
  loading.labels.clear();
  loading.list.clear();
  FeatureSet pool = load_pool(path, loading);
  check_same_features(pool, training);
  return pool;
}

PoolUse add_pool_metric(ConstMatrixView<float> pool, std::size_t classes, float power, int threads, Recipe& recipe,
                        Provenance& provenance) {
  PoolUse use;
  use.examples = pool.rows();
  use.needed = least_pool(classes);
  if (use.examples < use.needed) return use;
  PoolMetric learnt = learn_pool_metric(pool, power, threads);
  use.looked_at = learnt.looked_at;
  use.copies = learnt.copies;
  if (learnt.prior.metric.empty()) {
    use.copies = use.looked_at;
    return use;
  }
  set_metric_prior(std::move(learnt.prior), true, recipe);
  provenance["unlabelled_examples"] = std::to_string(use.examples);
  return use;
}

float transform_power(ConstMatrixView<float> training, const Recipe& recipe) {
  return learn_transform(training, recipe.transform).power;
}

PoolUse add_pool_metric(const FeatureSet& pool, const FeatureSet& training, std::span<const std::uint32_t> examples,
                        int threads, Recipe& recipe, Provenance& provenance) {
  const float power = transform_power(gather(training, examples).features.view(), recipe);
  Matrix<float> rows(pool.rows(), pool.dimension());
  pool.copy_rows(0, rows.view());
  return add_pool_metric(std::as_const(rows).view(), training.classes(), power, threads, recipe, provenance);
}

void check_metric_beside_pool(const std::optional<std::string>& metric) {
  if (!metric) return;
  fail_field(ErrorKind::kUsage, "metric",
             "expected no {} beside unlabelled examples, which give a metric themselves, found \"{}\"", *metric);
}

std::string pool_text(const PoolUse& use, bool metric_used) {
  if (use.examples < use.needed) {
    return fmt::format("{} unlabelled examples not used: too few, {} or more are needed for so many classes",
                       use.examples, use.needed);
  }
  if (!use.taken()) return fmt::format("{} unlabelled examples not used: they are all alike", use.examples);
  if (!metric_used) {
    return fmt::format("{} unlabelled examples not used: their metric does not suit the training examples",
                       use.examples);
  }
  std::string text = fmt::format("metric of {} unlabelled examples used", use.looked_at - use.copies);
  if (use.copies > 0) text += fmt::format(", {} copies left out", use.copies);
  if (use.looked_at < use.examples) text += fmt::format("; {} were not looked at", use.examples - use.looked_at);
  return text;
}

}  // namespace annulus
