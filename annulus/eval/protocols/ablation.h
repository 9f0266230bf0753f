// Ablations: one part of the method is varied at a time, on the same splits, beside other methods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/metrics/class_gain.h"
#include "annulus/eval/protocols/variant.h"
#include "annulus/learn/method/recipe.h"

namespace annulus {

struct AblationKind {
  std::string name;                 // "virtual"
  std::string title;                // what is varied, for people
  std::vector<std::string> values;  // tried unless others are given; empty: this kind takes none
};

// virtual (R), schema (the shape of the noise), svm (a margin between classes instead of around examples), lr, probes
// (T, the accuracy on virtual examples that the search requires), head, search and classes (which classes gain).
const std::vector<AblationKind>& ablation_kinds();
const AblationKind& ablation_kind(std::string_view name);  // throws Error{kUsage} listing the names

struct AblationOptions {
  std::string what;
  std::vector<std::string> values;  // empty: those of the kind
  std::vector<std::size_t> shots{1, 5};
  std::vector<std::string> beside{"ncm", "ridge", "linear-svm", "baseline"};  // methods for comparison
  Recipe recipe;                                                              // everything that is not varied
};

struct AblationRow {
  std::string name;
  std::size_t shots = 0;
  bool beside = false;  // a method for comparison, not one of the values
  VariantScore score;
  bool best_on_test_labels = false;  // kind lr: the rate with the best accuracy on the test labels
};

struct AblationGain {
  std::size_t shots = 0;
  ClassGain gain;
};

struct AblationReport {
  AblationKind kind;
  std::vector<AblationRow> rows;    // by shots: the methods for comparison, then the values in their order
  std::vector<AblationGain> gains;  // kind classes only
};

// `splits_of` returns the splits for a number of shots. Throws Error{kUsage} for invalid values before anything is
// trained.
AblationReport ablate(const std::function<SplitSource(std::size_t shots)>& splits_of, const AblationOptions& options,
                      const ProgressCallback& progress = {});

}  // namespace annulus
