// The table from kinds of errors to Python exceptions.
#include "python/src/errors.h"

#include <exception>
#include <map>
#include <string>

#include "annulus/base/error.h"

namespace annulus::python {
namespace {

namespace py = pybind11;

// Live as long as the interpreter.
PyObject* format_error = nullptr;
PyObject* cancelled = nullptr;

PyObject* exception_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kInput:
      return PyExc_ValueError;
    case ErrorKind::kFormat:
      return format_error;
    case ErrorKind::kIo:
      return PyExc_OSError;
    case ErrorKind::kCancelled:
      return cancelled;
    case ErrorKind::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

// What Python says of a field of the library's options: the keyword argument that sets it, where there is one.
std::string keyword_of(const std::string& field) {
  static const std::map<std::string, std::string> kKeywords{{"backbone", "backbone"},
                                                            {"batch", "batch_size"},
                                                            {"epochs", "epochs"},
                                                            {"epsilon", "epsilon"},
                                                            {"false_reject", "false_reject"},
                                                            {"feature", "feature"},
                                                            {"label_smoothing", "label_smoothing"},
                                                            {"learning_rate", "learning_rate"},
                                                            {"search_epochs", "search_epochs"},
                                                            {"threshold", "threshold"},
                                                            {"transform", "feature_transform"},
                                                            {"virtual_count", "n_virtual"}};
  const auto found = kKeywords.find(field);
  return found == kKeywords.end() ? field : found->second + "=";
}

PyObject* add_exception(py::module_& module, const char* name, const char* meaning, PyObject* base) {
  const std::string qualified = std::string("annulus.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), meaning, base, nullptr);
  if (type == nullptr) throw py::error_already_set();
  module.add_object(name, py::reinterpret_borrow<py::object>(type));
  return type;
}

}  // namespace

void add_errors(py::module_& module) {
  format_error = add_exception(module, "FormatError",
                               "A file is not what its format promises.\n\n"
                               ">>> import annulus, tempfile, os\n"
                               ">>> with tempfile.TemporaryDirectory() as folder:\n"
                               "...     _ = open(os.path.join(folder, 'a.safetensors'), 'w').write('no model')\n"
                               "...     try:\n"
                               "...         annulus.load(os.path.join(folder, 'a.safetensors'))\n"
                               "...     except annulus.FormatError:\n"
                               "...         print('no model')\n"
                               "no model\n",
                               PyExc_ValueError);
  cancelled =
      add_exception(module, "Cancelled",
                    "A progress callback returned False.\n\n"
                    ">>> import annulus, numpy as np\n"
                    ">>> try:\n"
                    "...     annulus.IbM2Classifier(progress=lambda *told: False).fit(np.eye(4), [0, 0, 1, 1])\n"
                    "... except annulus.Cancelled:\n"
                    "...     print('stopped')\n"
                    "stopped\n",
                    PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param)
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(exception_for(error.kind()), error.message_with(keyword_of(error.field())).c_str());
    }
  });
}

}  // namespace annulus::python
