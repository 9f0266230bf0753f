// Fits, calibrates and records.
#include "annulus/learn/fit_model.h"

#include <fmt/format.h>

#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/learn/training_order.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

Refit& refit_named(const std::string& method) {
  if (method == "baseline") return fit_baseline;
  if (method == "ibm2") return fit_ibm2;
  fail(ErrorKind::kUsage, "expected the method ibm2 or baseline, found {}", method);
}

std::map<std::string, std::string> training_record(const FitModelOptions& options, const Recipe& recipe,
                                                   std::size_t rows, const FitResult& fit) {
  std::map<std::string, std::string> record = describe(recipe);
  record.erase("threads");
  record["method"] = options.method;
  record["version"] = kVersion;
  record["seed"] = std::to_string(options.seed);
  record["shots"] = options.shots;
  record["rows"] = std::to_string(rows);
  record["training_accuracy"] = fmt::format("{}", fit.training_accuracy);
  record["virtual_accuracy"] = fmt::format("{}", fit.virtual_accuracy);
  if (fit.search) {
    record["target"] = fmt::format("{}", fit.search->target);
    record["upper_accuracy"] = fmt::format("{}", fit.search->upper_accuracy);
  }
  return record;
}

}  // namespace

TrainingData training_data(const FeatureSet& set, std::span<const std::uint32_t> rows, Team* team) {
  TrainingData data =
      team == nullptr ? TrainingData{gather(set, rows), paths_of(set, rows), {}, {}} : settled_run(set, rows, *team);
  data.provenance = set.provenance();
  data.class_names.assign(set.class_names().begin(), set.class_names().end());
  data.provenance.emplace("source", set.source());
  return data;
}

ModelFit fit_model(TrainingData data, const Recipe& recipe, const FitModelOptions& options,
                   const ProgressCallback& progress) {
  Refit& refit = refit_named(options.method);
  ModelFit result;
  Model& model = result.model;
  if (data.rows.cut.team() == nullptr) settle_rows(data);
  const std::size_t rows = data.rows.labels.size();
  const std::vector<float> weights = support_weights(data.rows);
  model.support = keep_support(data.rows, data.paths);
  result.fit = refit(std::move(data.rows), recipe, progress);
  if (options.calibrate && !recipe.name.starts_with("paper")) {
    const auto start = now();
    result.held_out = calibrate(model.support, result.fit, recipe, refit, progress, weights);
    result.calibration_seconds = seconds_since(start);
    model.temperature = result.held_out.temperature;
    model.unknown = std::move(result.held_out.unknown);
  }
  const HeldOutQuality quality = quality_of(result.held_out);
  model.class_names = std::move(data.class_names);
  model.provenance = std::move(data.provenance);
  model.epsilon = result.fit.epsilon;
  model.training = training_record(options, recipe, rows, result.fit);
  if (quality.rows > 0) {
    model.training["held_out_rows"] = std::to_string(quality.rows);
    model.training["held_out_accuracy"] = fmt::format("{}", quality.accuracy);
    model.training["held_out_calibration_error"] = fmt::format("{}", quality.calibration_error);
  }
  const WorkShare* share = recipe.final_training.share;
  model.head = collect_head(share, std::move(result.fit.head));
  if (result.fit.trained) model.trained = collect_head(share, std::move(*result.fit.trained));
  if (options.strip) strip(model);
  model.support = collect_support(std::move(model.support));
  return result;
}

}  // namespace annulus
