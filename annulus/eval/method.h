// Methods that a protocol compares. A method learns from support rows alone; test rows reach it only to be named, and
// test labels never do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/eval/base_classes.h"
#include "annulus/learn/head.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct FittedMethod {
  // The class of each raw feature row; a row's answer does not depend on the other rows.
  std::function<std::vector<std::int32_t>(ConstMatrixView<float> rows)> predict;
  double epsilon = 0.0;  // radius it was trained at; 0 for methods without one
  // Fills rows x classes scores, larger for classes that are more likely; empty for methods without any.
  std::function<void(ConstMatrixView<float> rows, MatrixView<float> scores)> score{};
  bool probabilities = false;            // scores are meant as the probabilities of the classes
  std::optional<SearchResult> search{};  // how the radius was found, where it was
};

// What a method may know beside the support rows.
struct MethodContext {
  const Recipe& recipe;               // its seed, its threads, and for the methods that train a head all its numbers
  const BaseClasses* base = nullptr;  // for methods that need it; null where none was given

  int threads() const { return recipe.final_training.threads; }
};

// A fit is safe to call from several threads at once, and neither it nor what it returns depends on their number.
using FitMethod = FittedMethod(const LabelledRows& support, const MethodContext& context,
                               const ProgressCallback& progress);

struct Method {
  std::string_view name;
  std::string_view summary;  // half a sentence for help texts
  std::string_view chosen;   // what it chooses, and on what
  FitMethod* fit;
  bool needs_base = false;         // learns from base classes as well
  bool has_learning_rate = false;  // trains by the recipe's learning rate
};

// Every method, in the order in which reports print them.
std::span<const Method> methods();
const Method& method_named(std::string_view name);  // throws Error{kUsage} listing the names

// Throws Error{kUsage} for an empty list, for an unknown name and for a method that needs base classes where `base` is
// null, and Error{kInput} for base classes of another dimension.
void check_methods(std::span<const std::string> names, const BaseClasses* base, std::size_t dimension);

// Throws Error{kUsage} where `asked` is neither empty nor one of the names.
void check_reference(std::span<const std::string> names, const std::string& asked);
// The method that others are compared with: the one asked for, else the baseline if it is among them, else the first.
std::string reference_method(std::span<const std::string> names, const std::string& asked);

// A method that classifies by a head on L2-normalised rows; `probabilities` says whether the softmax of its logits is
// meant as such.
FittedMethod fitted_head(Head<float> head, bool probabilities, int threads);
// The same for a head that was trained by a recipe.
FittedMethod fitted_head(FitResult fit, int threads);

// Answers by the largest score.
std::function<std::vector<std::int32_t>(ConstMatrixView<float>)> best_by_score(
    std::function<void(ConstMatrixView<float>, MatrixView<float>)> score, std::size_t classes);

// The class of the largest score of each row; of equals the first.
template <class T>
std::vector<std::int32_t> best_classes(ConstMatrixView<T> scores);

// One file a method.
FitMethod fit_nearest_class_mean_method;
FitMethod fit_simpleshot_method;
FitMethod fit_nearest_neighbours_method;
FitMethod fit_cache_method;
FitMethod fit_ridge_method;
FitMethod fit_logistic_method;
FitMethod fit_linear_svm_method;
FitMethod fit_svm_method;
FitMethod fit_calibration_method;
FitMethod fit_baseline_method;
FitMethod fit_ibm2_method;
FitMethod fit_default_method;

}  // namespace annulus
