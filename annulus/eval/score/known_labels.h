// KnownLabels: what the labels of a set mean to a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/task/feature_set.h"

namespace annulus {

// The label of an example whose class the model does not have.
inline constexpr std::int32_t kUnknownClass = -1;

// Matches the classes of labelled examples with those of a model, by name.
class KnownLabels {
 public:
  // What is looked at must outlive this. Labels and is_train are empty or have one entry per example.
  KnownLabels(std::span<const std::int32_t> labels, std::span<const std::string> class_names,
              std::span<const std::uint8_t> is_train, std::span<const std::string> model_classes);
  KnownLabels(const FeatureSet& set, std::span<const std::string> model_classes)
      : KnownLabels(set.labels(), set.class_names(), set.is_train(), model_classes) {}

  // The model's class of an example, or kUnknownClass. Absent where the example is not scored: it has no label, or may
  // have been trained on.
  std::optional<std::int32_t> of(std::size_t example) const {
    if (labels_.empty() || is_training(example)) return std::nullopt;
    return class_of(static_cast<std::size_t>(labels_[example]));
  }
  // The model's class of a class of the examples, or kUnknownClass.
  std::int32_t class_of(std::size_t label) const { return known_[label]; }
  bool is_training(std::size_t example) const { return !is_train_.empty() && is_train_[example] != 0; }

  // Throws Error{kInput}, in which `source` names the examples, unless one of them is of a class that the model knows
  // and no training example.
  void check(const std::string& source) const;

 private:
  std::span<const std::int32_t> labels_;
  std::span<const std::string> class_names_;
  std::span<const std::uint8_t> is_train_;
  std::span<const std::string> model_classes_;
  std::vector<std::int32_t> known_;  // class of the examples -> class of the model
};

}  // namespace annulus
