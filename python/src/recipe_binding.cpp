// Recipes: where all numbers of a fit come from.
#include <pybind11/stl.h>

#include "annulus/learn/method/recipe_options.h"
#include "python/src/bindings.h"

namespace annulus::python {

namespace py = pybind11;

void add_recipe(py::module_& module) {
  py::class_<RecipeOptions>(module, "RecipeOptions")
      .def(py::init<>())
      .def_readwrite("recipe", &RecipeOptions::recipe)
      .def_readwrite("virtual_examples", &RecipeOptions::virtual_examples)
      .def_readwrite("virtual_count", &RecipeOptions::virtual_count)
      .def_readwrite("epsilon", &RecipeOptions::epsilon)
      .def_readwrite("threshold", &RecipeOptions::threshold)
      .def_readwrite("learning_rate", &RecipeOptions::learning_rate)
      .def_readwrite("epochs", &RecipeOptions::epochs)
      .def_readwrite("batch", &RecipeOptions::batch)
      .def_readwrite("head", &RecipeOptions::head)
      .def_readwrite("transform", &RecipeOptions::transform)
      .def_readwrite("metric", &RecipeOptions::metric)
      .def_readwrite("noise_shape", &RecipeOptions::noise_shape)
      .def_readwrite("noise", &RecipeOptions::noise)
      .def_readwrite("label_smoothing", &RecipeOptions::label_smoothing)
      .def_readwrite("search_epochs", &RecipeOptions::search_epochs)
      .def_readwrite("search_learning_rate", &RecipeOptions::search_learning_rate)
      .def_readwrite("search_range", &RecipeOptions::search_range)
      .def_readwrite("search_tolerance", &RecipeOptions::search_tolerance);
  module.def("recipe_names", &recipe_names);
}

}  // namespace annulus::python
