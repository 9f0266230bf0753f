// The parts of the module, one file each.
#pragma once

#include <pybind11/pybind11.h>

namespace annulus::python {

void add_recipe(pybind11::module_& module);      // RecipeOptions, recipe_names
void add_model(pybind11::module_& module);       // Model: predictions, files, updates
void add_fit(pybind11::module_& module);         // fit
void add_methods(pybind11::module_& module);     // fit_method, method_names
void add_features(pybind11::module_& module);    // FeatureSet, Encoder
void add_evaluation(pybind11::module_& module);  // evaluate, episodes, audit
void add_pools(pybind11::module_& module);       // label_next, discover

}  // namespace annulus::python
