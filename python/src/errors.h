// Errors of the library as Python exceptions.
#pragma once

#include <pybind11/pybind11.h>

namespace annulus::python {

// Adds the exception types to the module and the translation of Error: one table from kinds to types.
void add_errors(pybind11::module_& module);

}  // namespace annulus::python
