// Pools of unlabelled rows: what to label next, and groups of alike rows.
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "annulus/eval/pool/discover.h"
#include "annulus/eval/pool/label_next.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/progress.h"

namespace annulus::python {
namespace {

namespace py = pybind11;

// Row numbers, reasons, and how unsure each choice is.
py::dict choices_dict(const std::vector<LabelChoice>& choices) {
  std::vector<std::int64_t> rows;
  std::vector<double> uncertainty;
  std::vector<std::int64_t> stands_for;
  py::list reasons;
  for (const LabelChoice& choice : choices) {
    rows.push_back(choice.row);
    uncertainty.push_back(choice.uncertainty);
    stands_for.push_back(static_cast<std::int64_t>(choice.stands_for));
    reasons.append(std::string(to_string(choice.reason)));
  }
  return py::dict(py::arg("rows") = array_of(rows), py::arg("reasons") = reasons,
                  py::arg("uncertainty") = array_of(uncertainty), py::arg("stands_for") = array_of(stands_for));
}

py::dict choose_next(const Rows& pool, const Rows& labelled, const Labels& labels, const Model* model,
                     const LabelNextOptions& options, double false_reject, const py::object& progress) {
  Matrix<float> rows = copy_of(view_of(pool));
  PoolKnowledge knowledge{copy_of(view_of(labelled)), vector_of(labels), std::nullopt};
  return choices_dict(without_lock(progress, [&](const ProgressCallback& heard) {
    if (model != nullptr) knowledge = knowledge_of(*model, rows.view(), false_reject, options.threads);
    return label_next(std::move(rows), {}, knowledge, options, heard);
  }));
}

py::dict discover_rows(const Rows& pool, int threads, const py::object& progress) {
  Matrix<float> rows = copy_of(view_of(pool));
  const PoolGroups found = without_lock(progress, [&](const ProgressCallback& heard) {
    return discover(std::move(rows), {}, {threads, {}}, heard);
  });
  std::vector<std::int64_t> covers;
  for (const PoolGroup& group : found.groups) covers.push_back(group.rows.front());
  const std::vector<std::uint32_t> groups = group_of_rows(found);
  std::vector<std::int64_t> copies;
  for (const DuplicatePair& pair : found.copies) copies.insert(copies.end(), {pair.first, pair.second});
  std::vector<std::int64_t> outliers;
  for (const Outlier& outlier : found.outliers) outliers.push_back(outlier.row);
  return py::dict(py::arg("labels") = array_of(std::vector<std::int64_t>(groups.begin(), groups.end())),
                  py::arg("covers") = array_of(covers), py::arg("kinds") = found.kinds(),
                  py::arg("copies") = array_of(copies), py::arg("outliers") = array_of(outliers));
}

}  // namespace

void add_pools(py::module_& module) {
  module.def(
      "label_next",
      [](const Rows& pool, const Rows& labelled, const Labels& labels, const Model* model, std::size_t count,
         double new_classes, double false_reject, int threads, const py::object& progress) {
        return choose_next(pool, labelled, labels, model, {count, new_classes, threads}, false_reject, progress);
      },
      py::arg("pool"), py::arg("labelled"), py::arg("labels"), py::arg("model").none(true), py::kw_only(),
      py::arg("count"), py::arg("new_classes"), py::arg("false_reject"), py::arg("threads") = 0,
      py::arg("progress") = py::none());
  module.def("discover", &discover_rows, py::arg("pool"), py::kw_only(), py::arg("threads") = 0,
             py::arg("progress") = py::none());
}

}  // namespace annulus::python
