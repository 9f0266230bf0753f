// Matches names, and says what is missing.
#include "annulus/eval/score/known_labels.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// "ash, birch, cedar, ..."
std::string first_names(std::span<const std::string> names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kShown ? text + ", ..." : text;
}

}  // namespace

KnownLabels::KnownLabels(std::span<const std::int32_t> labels, std::span<const std::string> class_names,
                         std::span<const std::uint8_t> is_train, std::span<const std::string> model_classes)
    : labels_(labels), class_names_(class_names), is_train_(is_train), model_classes_(model_classes) {
  std::unordered_map<std::string_view, std::int32_t> index;
  for (const std::string& name : model_classes) index.emplace(name, static_cast<std::int32_t>(index.size()));
  known_.reserve(class_names.size());
  for (const std::string& name : class_names) {
    const auto found = index.find(name);
    known_.push_back(found == index.end() ? kUnknownClass : found->second);
  }
}

void KnownLabels::check(const std::string& source) const {
  if (labels_.empty()) {
    fail(ErrorKind::kInput,
         "{}: expected labelled examples to score the model on (a folder per class, a metadata.csv with labels, or "
         "labels in or beside the feature file), found none with a label",
         source);
  }
  bool any = false;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto truth = of(i);
    if (truth && *truth != kUnknownClass) return;
    any = any || truth;
  }
  if (!any) {
    fail(ErrorKind::kInput,
         "{}: expected examples that were not trained on, found {} that are all marked as training examples: add test "
         "examples",
         source, labels_.size());
  }
  fail(ErrorKind::kInput, "{}: expected examples of the model's classes ({}), found none of them among the labels ({})",
       source, first_names(model_classes_), first_names(class_names_));
}

}  // namespace annulus
