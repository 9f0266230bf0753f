// Methods to compare with: the same that `annulus evaluate` runs.
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "annulus/kernels/narrow_gemm.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/method/recipe_options.h"
#include "annulus/pipeline/backbone_metric.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/progress.h"

namespace annulus::python {
namespace {

namespace py = pybind11;

// Rows are asked about a few at a time, by products whose bits do not depend on the rows beside: a prediction is the
// same whatever the order of rows. Without the interpreter's lock; signals are heard.
template <class Ask>
void in_small_blocks(ConstMatrixView<float> rows, const Ask& ask) {
  without_lock(py::none(), [&](const ProgressCallback& heard) {
    for (std::size_t first = 0; first < rows.rows(); first += kNarrow) {
      ask(first, rows.rows_at(first, std::min(kNarrow, rows.rows() - first)));
      report(heard, {"predict", first, rows.rows(), {}});
    }
    return true;
  });
}

// A fitted method and the number of its classes.
struct Fitted {
  FittedMethod method;
  std::size_t classes = 0;

  py::array_t<std::int32_t> predict(const Rows& rows) const {
    const auto features = view_of(rows);
    std::vector<std::int32_t> predictions;
    in_small_blocks(features, [&](std::size_t, ConstMatrixView<float> block) {
      const auto some = method.predict(block);
      predictions.insert(predictions.end(), some.begin(), some.end());
    });
    return array_of(predictions);
  }

  py::object score(const Rows& rows) const {
    if (!method.predict_and_score) return py::none();
    const auto features = view_of(rows);
    Matrix<float> scores(features.rows(), classes);
    in_small_blocks(features, [&](std::size_t first, ConstMatrixView<float> block) {
      method.predict_and_score(block, scores.view().rows_at(first, block.rows()));
    });
    return array_of(std::move(scores));
  }
};

Fitted fit_named(const std::string& name, const Rows& rows, const Labels& labels, std::size_t classes,
                 const RecipeOptions& options, std::uint64_t seed, int threads, const py::object& progress) {
  const Method& method = method_named(name);
  if (method.transductive()) {
    fail(ErrorKind::kUsage, "method {} is transductive: it predicts all rows together, in evaluate and episodes", name);
  }
  if (method.needs_base) fail(ErrorKind::kUsage, "method {} needs base classes, which arrays alone do not have", name);
  Recipe recipe = make_recipe(options, seed, threads);
  const auto features = view_of(rows);
  add_metric_prior(options.metric, {}, features.cols(), recipe);
  const std::vector<std::int32_t> numbers = vector_of(labels);
  FittedMethod fitted = without_lock(progress, [&](const ProgressCallback& heard) {
    return method.fit(LabelledExamples{copy_of(features), numbers, classes}, {recipe}, heard);
  });
  return {std::move(fitted), classes};
}

}  // namespace

void add_methods(py::module_& module) {
  py::class_<Fitted>(module, "FittedMethod")
      .def("predict", &Fitted::predict)
      .def("score", &Fitted::score)
      .def_property_readonly("probabilities", [](const Fitted& fitted) { return fitted.method.probabilities; })
      .def_property_readonly("scores",
                             [](const Fitted& fitted) { return static_cast<bool>(fitted.method.predict_and_score); });
  module.def("fit_method", &fit_named, py::arg("name"), py::arg("rows"), py::arg("labels"), py::arg("classes"),
             py::arg("recipe"), py::arg("seed") = 0, py::arg("threads") = 0, py::arg("progress") = py::none());
  module.def("method_names", [] {
    std::vector<std::string> names;
    for (const Method& method : methods()) names.emplace_back(method.name);
    return names;
  });
}

}  // namespace annulus::python
