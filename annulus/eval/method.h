// Methods that a protocol compares. A method learns from support rows alone; test rows reach it only to be named, and
// test labels never do.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/head.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct FittedMethod {
  // The class of each raw feature row; a row's answer does not depend on the other rows.
  std::function<std::vector<std::int32_t>(ConstMatrixView<float> rows)> predict;
  double epsilon = 0.0;  // radius it was trained at; 0 for methods without one
};

struct Method {
  std::string_view name;
  std::string_view summary;  // half a sentence for help texts
  FittedMethod (*fit)(const LabelledRows& support, const Recipe& recipe, const ProgressCallback& progress);
};

// Every method, in the order in which reports print them.
std::span<const Method> methods();
const Method& method_named(std::string_view name);  // throws Error{kUsage} listing the names

// A method that classifies by a head on L2-normalised rows.
FittedMethod fitted_head(Head<float> head, double epsilon, int threads);

// One file a method.
FittedMethod fit_nearest_class_mean_method(const LabelledRows& support, const Recipe& recipe,
                                           const ProgressCallback& progress);
FittedMethod fit_baseline_method(const LabelledRows& support, const Recipe& recipe, const ProgressCallback& progress);
FittedMethod fit_ibm2_method(const LabelledRows& support, const Recipe& recipe, const ProgressCallback& progress);

}  // namespace annulus
