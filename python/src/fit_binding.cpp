// Learning a model from arrays, exactly as `annulus fit` does from files.
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "annulus/learn/method/recipe_options.h"
#include "annulus/learn/model/fit_model.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/pipeline/unlabelled.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/progress.h"

namespace annulus::python {
namespace {

namespace py = pybind11;

py::dict search_dict(const SearchResult& search) {
  py::list probes;
  for (const Probe& probe : search.probes) {
    probes.append(py::dict(py::arg("epsilon") = probe.epsilon, py::arg("accuracy") = probe.accuracy,
                           py::arg("passed") = probe.passed, py::arg("low") = probe.low, py::arg("high") = probe.high,
                           py::arg("seconds") = probe.seconds));
  }
  return py::dict(py::arg("target") = search.target, py::arg("upper_accuracy") = search.upper_accuracy,
                  py::arg("seconds") = search.seconds, py::arg("probes") = probes);
}

py::dict fit_dict(const ModelFit& fit) {
  py::dict result(py::arg("epsilon") = fit.fit.epsilon, py::arg("training_accuracy") = fit.fit.training_accuracy,
                  py::arg("virtual_accuracy") = fit.fit.virtual_accuracy, py::arg("seconds") = fit.fit.seconds,
                  py::arg("calibration_seconds") = fit.calibration_seconds,
                  py::arg("held_out_examples") = fit.held_out.labels.size(), py::arg("search") = py::none());
  if (fit.fit.search) result["search"] = search_dict(*fit.fit.search);
  return result;
}

struct FitArguments {
  RecipeOptions recipe;
  FitModelOptions options;
  int threads = 0;
};

py::tuple fit_arrays(const Rows& rows, const Labels& labels, std::vector<std::string> class_names,
                     const std::optional<Weights>& weights, std::map<std::string, std::string> provenance,
                     std::vector<std::string> paths, const std::optional<Rows>& unlabelled,
                     const FitArguments& arguments, const py::object& progress) {
  const ConstMatrixView<float> features = view_of(rows);
  TrainingData data;
  data.rows.labels = vector_of(labels);
  data.rows.classes = class_names.size();
  if (weights) data.rows.weights = vector_of(*weights);
  data.class_names = std::move(class_names);
  data.provenance = std::move(provenance);
  data.paths = std::move(paths);
  if (unlabelled) check_metric_beside_pool(arguments.recipe.metric);
  Recipe recipe = make_recipe(arguments.recipe, arguments.options.seed, arguments.threads);
  add_metric_prior(arguments.recipe.metric, data.provenance, features.cols(), recipe);
  const ConstMatrixView<float> pool = unlabelled ? view_of(*unlabelled) : ConstMatrixView<float>();
  std::optional<PoolUse> use;
  ModelFit fit = without_lock(progress, [&](const ProgressCallback& heard) {
    data.rows.features = copy_of(features);
    if (unlabelled) {
      use = add_pool_metric(pool, data.rows.classes, transform_power(features, recipe), arguments.threads, recipe,
                            data.provenance);
    }
    return fit_model(std::move(data), recipe, arguments.options, heard);
  });
  py::dict record = fit_dict(fit);
  if (use) record["unlabelled"] = pool_text(*use, fit.fit.metric_prior);
  return py::make_tuple(std::make_shared<Model>(std::move(fit.model)), record);
}

}  // namespace

void add_fit(py::module_& module) {
  module.def(
      "fit",
      [](const Rows& rows, const Labels& labels, std::vector<std::string> class_names,
         const std::optional<Weights>& weights, std::map<std::string, std::string> provenance,
         std::vector<std::string> paths, const std::optional<Rows>& unlabelled, const RecipeOptions& recipe,
         bool calibrate, std::uint64_t seed, int threads, const py::object& progress) {
        return fit_arrays(rows, labels, std::move(class_names), weights, std::move(provenance), std::move(paths),
                          unlabelled, {recipe, {calibrate, false, seed, "all"}, threads}, progress);
      },
      py::arg("rows"), py::arg("labels"), py::arg("class_names"), py::kw_only(), py::arg("weights") = py::none(),
      py::arg("provenance") = std::map<std::string, std::string>{}, py::arg("paths") = std::vector<std::string>{},
      py::arg("unlabelled") = py::none(), py::arg("recipe") = RecipeOptions{}, py::arg("calibrate") = true,
      py::arg("seed") = 0, py::arg("threads") = 0, py::arg("progress") = py::none());
}

}  // namespace annulus::python
