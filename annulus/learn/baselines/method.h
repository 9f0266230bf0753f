// The methods that a protocol compares. A method is trained on support examples alone; it sees test examples only to
// predict them, and never their labels. Transductive methods are marked: they see all test examples at once.
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
#include "annulus/learn/baselines/base_classes.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct FittedMethod {
  // The class of each raw feature row; the prediction of a row does not depend on the other rows.
  std::function<std::vector<std::int32_t>(ConstMatrixView<float> rows)> predict;
  double epsilon = 0.0;  // radius it was trained at; 0 for methods without one
  // The same classes, and rows x classes scores, larger for classes that are more likely, both from one computation;
  // empty for methods without scores.
  std::function<std::vector<std::int32_t>(ConstMatrixView<float> rows, MatrixView<float> scores)> predict_and_score{};
  bool probabilities = false;            // scores are meant as the probabilities of the classes
  std::optional<SearchResult> search{};  // how the radius was found, where it was
};

// The inputs of a method besides the support examples.
struct MethodContext {
  const Recipe& recipe;               // its seed, its threads, and for methods that train a head all its settings
  const BaseClasses* base = nullptr;  // for methods that need them; null if not given

  int threads() const { return recipe.final_training.threads; }
};

// A fit may be called from several threads at once; its result does not depend on the number of threads.
using FitMethod = FittedMethod(const LabelledExamples& support, const MethodContext& context,
                               const ProgressCallback& progress);

// What a transductive method says about all queries.
struct QueryScores {
  Matrix<float> scores;  // queries x classes, larger for classes that are more likely; the largest one is predicted
  bool probabilities = false;  // scores are meant as the probabilities of the classes
};

// Predicts all raw query rows together, from the support examples and the other queries. Rows of a task with other
// queries get other scores. The result does not depend on the number of threads. Memory beside copies of the features:
// queries x classes.
using ScoreQueries = QueryScores(const LabelledExamples& support, ConstMatrixView<float> queries,
                                 const MethodContext& context, const ProgressCallback& progress);

// What a method trains the recipe's head on, at a learning rate of the recipe.
enum class HeadTraining { kNone, kExamples, kVirtualExamples };

struct Method {
  std::string_view name;
  std::string_view summary;  // half a sentence for help texts
  std::string_view chosen;   // what it chooses, and on which examples
  FitMethod* fit;            // null for a transductive method
  bool needs_base = false;   // learns from base classes as well
  HeadTraining trains_head = HeadTraining::kNone;
  ScoreQueries* score_queries = nullptr;  // of a transductive method

  bool transductive() const { return score_queries != nullptr; }
  bool has_learning_rate() const { return trains_head != HeadTraining::kNone; }
};

// Every method, in the order in which reports print them.
std::span<const Method> methods();
const Method& method_named(std::string_view name);  // throws Error{kUsage} listing the names
// "tim (transductive)" for a transductive method, any other name as it is: how tables name methods.
inline constexpr std::string_view kTransductiveMark = " (transductive)";
std::string method_label(std::string_view name);
bool is_transductive(std::string_view name);  // false for unknown names

// Throws Error{kUsage} for an empty list, for an unknown name and for a method that needs base classes where `base` is
// null, and Error{kInput} for base classes of another dimension.
void check_methods(std::span<const std::string> names, const BaseClasses* base, std::size_t dimension);

// Throws Error{kUsage} if `wanted` is neither empty nor one of the names.
void check_reference(std::span<const std::string> names, const std::string& wanted);
// The reference method of comparisons: `wanted`, else the baseline if it is among them, else the first.
std::string reference_method(std::span<const std::string> names, const std::string& wanted);

// A method that classifies by a head on L2-normalised rows, with the softmax of its logits divided by the temperature
// as scores; `probabilities` says whether those are meant as such.
FittedMethod fitted_head(Head<float> head, bool probabilities, int threads, double temperature = 1.0);
// The same for a head that was trained by a recipe.
FittedMethod fitted_head(FitResult fit, int threads, double temperature = 1.0);

// Sets both functions of a method that classifies by its largest score; `score` fills rows x classes scores.
void classify_by_score(std::function<void(ConstMatrixView<float> rows, MatrixView<float> scores)> score,
                       std::size_t classes, FittedMethod& fitted);

// The class with the largest score of each row; the first of equal ones.
template <class T>
std::vector<std::int32_t> best_classes(ConstMatrixView<T> scores);

// One file per method.
FitMethod fit_nearest_prototype_method;
FitMethod fit_simpleshot_method;
FitMethod fit_nearest_neighbours_method;
FitMethod fit_cache_method;
FitMethod fit_gda_method;
FitMethod fit_lda_method;
FitMethod fit_fecam_method;
FitMethod fit_ridge_method;
FitMethod fit_ridge_cv_method;
FitMethod fit_ranpac_method;
FitMethod fit_logistic_method;
FitMethod fit_logistic_cv_method;
FitMethod fit_lp_plus_plus_method;
FitMethod fit_linear_svm_method;
FitMethod fit_svm_method;
FitMethod fit_distribution_calibration_method;
FitMethod fit_baseline_method;
FitMethod fit_ibm2_method;
FitMethod fit_default_method;

// One file per transductive method, in annulus/learn/transductive/.
ScoreQueries score_by_bd_cspn;
ScoreQueries score_by_laplacian_shot;
ScoreQueries score_by_tim;
ScoreQueries score_by_alpha_tim;
ScoreQueries score_by_pt_map;
ScoreQueries score_by_transductive_finetune;

}  // namespace annulus
