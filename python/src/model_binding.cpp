// Models: their predictions, files and updates.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/learn/update/class_update.h"
#include "annulus/store/models/model_file.h"
#include "annulus/store/models/training_record_entries.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/progress.h"

namespace annulus::python {
namespace {

namespace py = pybind11;
using Shared = std::shared_ptr<Model>;

Model clone_of(const Model& model) {
  Model clone;
  clone.head = model.head.clone();
  clone.class_names = model.class_names;
  clone.epsilon = model.epsilon;
  clone.temperature = model.temperature;
  clone.training = model.training;
  clone.provenance = model.provenance;
  clone.support = model.support.clone();
  clone.unknown = model.unknown;
  if (model.trained) clone.trained = model.trained->clone();
  return clone;
}

// More logits than these take long enough that signals are listened for.
constexpr std::size_t kQuickLogits = 1U << 22U;

// Runs ask(progress) without the interpreter's lock.
template <class Ask>
void ask_about(const Model& model, ConstMatrixView<float> rows, const Ask& ask) {
  if (rows.rows() <= kQuickLogits / std::max<std::size_t>(1, model.head.classes())) {
    const py::gil_scoped_release release;
    ask(ProgressCallback());
    return;
  }
  without_lock(py::none(), [&](const ProgressCallback& heard) {
    ask(heard);
    return true;
  });
}

py::array_t<float> logits(const Model& model, const Rows& rows, int threads) {
  const auto features = view_of(rows);
  Matrix<float> out(features.rows(), model.head.classes());
  ask_about(model, features, [&](const ProgressCallback& heard) {
    PreparedHead(model.head).logits(features, out.view(), threads, heard);
  });
  return array_of(std::move(out));
}

py::array_t<float> probabilities(const Model& model, const Rows& rows, int threads) {
  const auto features = view_of(rows);
  Matrix<float> out(features.rows(), model.head.classes());
  ask_about(model, features, [&](const ProgressCallback& heard) {
    PreparedHead(model.head).logits(features, out.view(), threads, heard);
    to_probabilities(out.view(), model.temperature);
  });
  return array_of(std::move(out));
}

py::array_t<std::int32_t> classes(const Model& model, const Rows& rows, int threads) {
  const auto features = view_of(rows);
  std::vector<std::int32_t> out;
  ask_about(model, features,
            [&](const ProgressCallback& heard) { out = PreparedHead(model.head).classes(features, threads, heard); });
  return array_of(out);
}

py::array_t<float> scores(const Model& model, const Rows& rows, int threads) {
  const auto features = view_of(rows);
  std::vector<float> out(features.rows());
  ask_about(model, features,
            [&](const ProgressCallback& heard) { unknown_scores(model, features, out, threads, heard); });
  return array_of(out);
}

py::dict prediction_dict(const Model& model, const Prediction& prediction) {
  py::list top;
  for (const RankedClass& ranked : prediction.top) top.append(py::make_tuple(ranked.index, ranked.probability));
  py::dict result(py::arg("top") = top, py::arg("rejected") = prediction.rejected,
                  py::arg("unknown_score") = prediction.unknown_score);
  if (!prediction.explanation) return result;
  py::list nearest;
  for (const NearExample& near : prediction.explanation->nearest) {
    const std::string path = model.support.paths.empty() ? std::string() : model.support.paths[near.row];
    nearest.append(py::dict(py::arg("row") = near.row, py::arg("class") = model.support.labels[near.row],
                            py::arg("cosine") = near.cosine, py::arg("path") = path));
  }
  result["nearest"] = nearest;
  result["boundary_distance"] = prediction.explanation->boundary_distance;
  return result;
}

py::list predictions(const Model& model, const Rows& rows, double false_reject, bool explain, std::size_t top,
                     int threads) {
  const auto features = view_of(rows);
  std::vector<Prediction> found;
  {
    const py::gil_scoped_release release;
    found = Predictor(model, {false_reject, explain, top, threads}).predict(features);
  }
  py::list result;
  for (const Prediction& prediction : found) result.append(prediction_dict(model, prediction));
  return result;
}

py::dict update_dict(const UpdateReport& report) {
  return py::dict(py::arg("old_examples") = report.old_examples, py::arg("checked") = report.checked,
                  py::arg("changed") = report.changed, py::arg("right_before") = report.right_before,
                  py::arg("right_after") = report.right_after, py::arg("examples_given") = report.examples_given,
                  py::arg("examples_learnt") = report.examples_learnt,
                  py::arg("examples_learnt_correct") = report.examples_learnt_correct,
                  py::arg("most_alike") = report.most_alike, py::arg("alike_cosine") = report.alike_cosine,
                  py::arg("seconds") = report.seconds);
}

// A copy of the model that was changed, and what that did.
template <class Change>
py::tuple updated(const Model& model, const Change& change) {
  ModelUpdate update;
  {
    const py::gil_scoped_release release;
    update = change(clone_of(model));
  }
  const py::dict report = update_dict(update.report);
  return py::make_tuple(std::make_shared<Model>(std::move(update.model)), report);
}

Shared model_of_bytes(const py::bytes& bytes) {
  const std::string_view text = bytes;
  const py::gil_scoped_release release;
  return std::make_shared<Model>(read_model(FileBytes{std::as_bytes(std::span(text)), nullptr, "a pickled model"}));
}

void add_predictions(py::class_<Model, Shared>& type) {
  type.def("logits", &logits, py::arg("rows"), py::arg("threads") = 0)
      .def("probabilities", &probabilities, py::arg("rows"), py::arg("threads") = 0)
      .def("classes", &classes, py::arg("rows"), py::arg("threads") = 0)
      .def("unknown_scores", &scores, py::arg("rows"), py::arg("threads") = 0)
      .def("unknown_threshold",
           [](const Model& model, double fraction) {
             if (model.unknown.empty()) fail(ErrorKind::kInput, "the model has no rejection rule");
             return unknown_threshold(model.unknown, fraction);
           })
      .def("catch_rate",
           [](const Model& model, double fraction) { return unknown_catch_rate(model.unknown, fraction); })
      .def("predictions", &predictions, py::arg("rows"), py::arg("false_reject") = kFalseReject,
           py::arg("explain") = false, py::arg("top") = 5, py::arg("threads") = 0);
}

void add_update_report(py::class_<Model, Shared>& type) {
  type.def(
          "add_class",
          [](const Model& model, const Rows& rows, const std::string& name, int threads) {
            const auto features = view_of(rows);
            return updated(model, [&](Model&& copy) {
              return add_class(std::move(copy), {copy_of(features), {}}, name, {threads});
            });
          },
          py::arg("rows"), py::arg("name"), py::arg("threads") = 0)
      .def(
          "add_examples",
          [](const Model& model, const Rows& rows, const std::string& name, int threads) {
            const auto features = view_of(rows);
            return updated(model, [&](Model&& copy) {
              return add_examples(std::move(copy), {copy_of(features), {}}, name, {threads});
            });
          },
          py::arg("rows"), py::arg("name"), py::arg("threads") = 0)
      .def(
          "remove_classes",
          [](const Model& model, const std::vector<std::string>& names, int threads) {
            return updated(model, [&](Model&& copy) { return remove_classes(std::move(copy), names, {threads}); });
          },
          py::arg("names"), py::arg("threads") = 0);
}

void add_files(py::class_<Model, Shared>& type) {
  type.def("save", &write_model, py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def("to_bytes", [](const Model& model) { return py::bytes(model_bytes(model)); })
      .def_static(
          "load", [](const std::filesystem::path& path) { return std::make_shared<Model>(read_model(path)); },
          py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def_static("from_bytes", &model_of_bytes, py::arg("bytes"))
      .def("copy", [](const Model& model) { return std::make_shared<Model>(clone_of(model)); })
      .def(py::pickle([](const Model& model) { return py::bytes(model_bytes(model)); }, &model_of_bytes));
}

}  // namespace

void add_model(py::module_& module) {
  py::class_<Model, Shared> type(module, "Model");
  type.def_property_readonly("classes_count", [](const Model& model) { return model.head.classes(); })
      .def_property_readonly("dimension", [](const Model& model) { return model.head.dimension(); })
      .def_property_readonly("head", [](const Model& model) { return std::string(to_string(model.head.kind)); })
      .def_property_readonly("power", [](const Model& model) { return model.head.transform.power; })
      .def_property_readonly("centred", [](const Model& model) { return !model.head.transform.centre.empty(); })
      .def_property_readonly("weights",
                             [](const Model& model) {
                               Matrix<float> weights(model.head.classes(), model.head.dimension());
                               effective_weights(model.head, weights.view());
                               return array_of(std::move(weights));
                             })
      .def_property_readonly("bias", [](const Model& model) { return array_of(model.head.bias); })
      .def_property_readonly("support_set", [](const Model& model) { return model.support.rows(); })
      .def_property_readonly("support_labels", [](const Model& model) { return array_of(model.support.labels); })
      .def_property_readonly("rejects_unknown", [](const Model& model) { return !model.unknown.empty(); })
      .def_readonly("class_names", &Model::class_names)
      .def_readonly("epsilon", &Model::epsilon)
      .def_readonly("temperature", &Model::temperature)
      .def_readwrite("provenance", &Model::provenance)
      .def_property_readonly("training", [](const Model& model) { return record_entries(model.training); })
      .def(
          "add_note",
          [](Model& model, const std::string& name, const std::string& text) { model.training.notes[name] = text; },
          py::arg("name"), py::arg("text"));
  add_predictions(type);
  add_update_report(type);
  add_files(type);
}

}  // namespace annulus::python
