// Ablations: one part of the method varied at a time, on the same draws, with methods of others beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/class_gain.h"
#include "annulus/eval/stamp.h"
#include "annulus/eval/variant.h"
#include "annulus/learn/recipe.h"

namespace annulus {

struct AblationKind {
  std::string name;                 // "virtual"
  std::string title;                // what is varied
  std::vector<std::string> values;  // the values that are tried unless others are given; empty: it takes none
};

// virtual (R), schema (the shape of the noise), svm (a margin between classes in place of one around examples), lr,
// probes (T, the accuracy that the search asks of virtual examples), head, search and classes (which classes gain).
const std::vector<AblationKind>& ablation_kinds();
const AblationKind& ablation_kind(std::string_view name);  // throws Error{kUsage} listing the names

struct AblationOptions {
  std::string what;
  std::vector<std::string> values;  // empty: those of the kind
  std::vector<std::size_t> shots{1, 5};
  std::vector<std::string> beside{"ncm", "ridge", "linear-svm", "baseline"};  // methods for comparison
  Recipe recipe;                                                              // all that is not varied
};

struct AblationRow {
  std::string name;
  std::size_t shots = 0;
  bool beside = false;  // a method for comparison, not one of the values
  VariantScore score;
  bool best_on_test_labels = false;  // of lr: the rate that somebody who looks at the test labels would choose
};

struct AblationGain {
  std::size_t shots = 0;
  ClassGain gain;
};

struct AblationReport {
  AblationKind kind;
  std::vector<AblationRow> rows;    // by shots: those beside, then the values in their order
  std::vector<AblationGain> gains;  // of classes
};

// `draws_of` gives the draws of a number of shots. Throws Error{kUsage} for values that make no sense, before anything
// is trained.
AblationReport ablate(const std::function<DrawSource(std::size_t shots)>& draws_of, const AblationOptions& options,
                      const ProgressCallback& progress = {});

// What the documents of an ablation say about themselves.
struct AblationContext {
  std::string source;  // file of the features
  std::uint64_t seed = 0;
  std::size_t subsets = 0;
  std::map<std::string, std::string> options;  // describe(recipe)
  Stamp stamp{};
};

// True when a row is marked as the best on the test labels.
bool uses_test_labels(const AblationReport& report);

// An aligned table, ending in a newline; `colour` paints red what must not be overlooked, for terminals.
std::string ablation_table(const AblationReport& report, bool colour);
// A Markdown table.
std::string ablation_markdown(const AblationReport& report);
// A results document of the protocol "many-way" whose methods are the variants, with "ablation" and, of classes,
// "gains".
std::string ablation_json(const AblationReport& report, const AblationContext& context);
// variant,shots,seed,accuracy,epsilon,seconds: one line a run.
std::string ablation_csv(const AblationReport& report);

}  // namespace annulus
