// Fits, calibrates and records.
#include "annulus/learn/model/fit_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/row_order.h"
#include "annulus/base/version.h"
#include "annulus/learn/calibration/group_sharpness.h"
#include "annulus/learn/distributed/canonical_order.h"
#include "annulus/learn/distributed/parallel_layout.h"

namespace annulus {
namespace {

TrainingRecord record_of_fit(const Recipe& recipe, const FitModelOptions& options, std::size_t examples,
                             const ModelFit& fitted) {
  TrainingRecord record = record_of(recipe);
  record.version = kVersion;
  record.seed = options.seed;
  record.shots = options.shots;
  record.examples = examples;
  record_fit(fitted.fit, record);
  const HeldOutQuality quality = quality_of(fitted.held_out);
  if (quality.examples > 0) record.held_out = {quality.examples, quality.accuracy, quality.calibration_error};
  return record;
}

void name_classes(Head<float>& head, std::span<const std::size_t> places) {
  if (head.classes() != places.size()) return;  // of a process that holds part of it
  take_rows(head.direction, places);
  take(head.gain, places);
  take(head.bias, places);
}

void name_classes(SupportSet& support, std::span<const std::size_t> class_order) {
  if (support.features.rows() != support.rows()) return;
  for (std::int32_t& label : support.labels) {
    label = static_cast<std::int32_t>(class_order[static_cast<std::size_t>(label)]);
  }
  std::vector<std::size_t> order(support.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return support.labels[a] < support.labels[b]; });
  take_rows(support.features, order);
  take(support.labels, order);
  take(support.paths, order);
}

// From the order in which classes were learnt to that of their names.
void name_classes(ModelFit& fitted, std::span<const std::size_t> class_order) {
  if (class_order.empty()) return;
  const std::vector<std::size_t> places = inverse_order(class_order);
  name_classes(fitted.model.head, places);
  if (fitted.model.trained) name_classes(*fitted.model.trained, places);
  name_classes(fitted.model.support, class_order);
  for (std::int32_t& label : fitted.held_out.labels) {
    label = static_cast<std::int32_t>(class_order[static_cast<std::size_t>(label)]);
  }
  std::vector<float> learnt(class_order.size());
  for (std::size_t i = 0; i < fitted.held_out.probabilities.rows(); ++i) {
    const auto row = fitted.held_out.probabilities.row(i);
    std::copy(row.begin(), row.end(), learnt.begin());
    for (std::size_t c = 0; c < learnt.size(); ++c) row[class_order[c]] = learnt[c];
  }
}

}  // namespace

TrainingData training_data(const FeatureSet& set, std::span<const std::uint32_t> rows, Communicator* communicator) {
  TrainingData data = communicator == nullptr ? TrainingData{gather(set, rows), paths_of(set, rows), {}, {}}
                                              : canonical_partition(set, rows, *communicator);
  data.provenance = set.provenance();
  data.class_names.assign(set.class_names().begin(), set.class_names().end());
  data.provenance.emplace("source", set.source());
  return data;
}

ModelFit fit_model(TrainingData data, const Recipe& recipe, const FitModelOptions& options,
                   const ProgressCallback& progress) {
  ModelFit result;
  Model& model = result.model;
  if (!data.parents.empty()) static_cast<void>(ClassTree(data.class_names, data.parents));  // checked before the work
  if (data.rows.partition.communicator() == nullptr) to_content_order(data);
  const std::size_t examples = data.rows.labels.size();
  const std::vector<float> weights = support_weights(data.rows);
  model.support = keep_support(data.rows, data.paths);
  result.fit = fit_head(std::move(data.rows), recipe, progress);
  if (options.calibrate && recipe.calibrate) {
    const auto start = now();
    result.held_out = calibrate(model.support, result.fit, recipe, progress, weights);
    result.calibration_seconds = seconds_since(start);
    model.temperature = result.held_out.temperature;
    model.unknown = std::move(result.held_out.unknown);
  }
  model.support.groups.clear();
  model.class_names = std::move(data.class_names);
  model.parents = std::move(data.parents);
  model.provenance = std::move(data.provenance);
  if (result.fit.metric_prior) model.provenance["metric_prior"] = recipe.metric.prior->checksum;
  model.epsilon = result.fit.epsilon;
  model.training = record_of_fit(recipe, options, examples, result);
  const ParallelLayout& layout = *recipe.final_training.layout;
  model.head = collect_head(layout, std::move(result.fit.head));
  if (result.fit.trained) model.trained = collect_head(layout, std::move(*result.fit.trained));
  if (options.strip) strip(model);
  model.support = collect_support(std::move(model.support));
  name_classes(result, data.class_order);
  if (!model.parents.empty() && !result.held_out.labels.empty()) {
    model.group_sharpness =
        group_sharpness(tree_of(model), std::as_const(result.held_out.probabilities).view(), result.held_out.labels);
  }
  return result;
}

}  // namespace annulus
