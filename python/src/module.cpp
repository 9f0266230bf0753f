// The module annulus._core: what the package's Python files are written on.
#include <pybind11/pybind11.h>

#include "annulus/base/parallel.h"
#include "annulus/base/version.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ library underneath the package annulus; use the package instead.";
  module.attr("__version__") = annulus::kVersion;
  module.def("hardware_threads", &annulus::hardware_threads);
  annulus::python::add_errors(module);
  annulus::python::add_recipe(module);
  annulus::python::add_model(module);
  annulus::python::add_fit(module);
  annulus::python::add_methods(module);
  annulus::python::add_features(module);
  annulus::python::add_evaluation(module);
  annulus::python::add_pools(module);
}
