// Chooses by label.
#include "annulus/learn/update/new_examples.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

std::int32_t picked_class(const FeatureSet& set, const ClassChoice& choice) {
  const std::string& wanted = choice.picked.empty() ? choice.name : choice.picked;
  const auto names = set.class_names();
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return static_cast<std::int32_t>(found - names.begin());
  if (choice.picked.empty() && names.size() == 1) return 0;
  if (!choice.picked.empty()) {
    fail(ErrorKind::kInput, "{}: expected examples of the class \"{}\", found {} classes without it", set.source(),
         wanted, names.size());
  }
  fail_field(ErrorKind::kInput, "class",
             "{1}: expected examples of the class \"{2}\", found {3} classes without it: choose one with {0}",
             set.source(), wanted, names.size());
}

}  // namespace

NewExamples examples_of_class(const FeatureSet& set, const ClassChoice& choice) {
  const bool by_label = set.labelled() && !choice.whole_set;
  if (!by_label && !choice.picked.empty()) {
    fail_field(ErrorKind::kUsage, "class", "expected a labelled feature file for {}, found {}", set.source());
  }
  const std::int32_t wanted = by_label ? picked_class(set, choice) : -1;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < set.rows(); ++i) {
    if (by_label && (set.labels()[i] != wanted || (!set.is_train().empty() && set.is_train()[i] == 0))) continue;
    rows.push_back(i);
  }
  if (rows.empty()) fail(ErrorKind::kInput, "{}: expected examples to learn from, found none", set.source());
  NewExamples examples{Matrix<float>(rows.size(), set.dimension()), paths_of(set, rows)};
  set.copy_rows(rows, examples.features.view());
  return examples;
}

}  // namespace annulus
