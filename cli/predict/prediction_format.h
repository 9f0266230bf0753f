// Predictions as lines of text, JSON or CSV.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/learn/model/support_set.h"
#include "annulus/report/documents/prediction_json.h"

namespace annulus::cli {

enum class PredictionFormat { kText, kJsonLines, kCsv };

PredictionFormat prediction_format_from(std::string_view name);  // throws Error{kUsage}

// What to expect of a false-rejection rate: the estimated fraction of unknown inputs that is caught
// (unknown_catch_rate).
std::string rejection_text(double false_reject, double caught);

// One predicted row: named by its path where there is one, else by its number.
struct PredictedRow {
  std::size_t row = 0;
  std::string_view path;  // may be empty
  const Prediction& prediction;
};

// What all rows of an output have in common.
struct PredictionLayout {
  PredictionFormat format = PredictionFormat::kText;
  std::span<const std::string> class_names;
  bool has_paths = false;
  std::size_t top = 5;
  bool may_reject = false;              // rows carry a score, and some are rejected
  const SupportSet* support = nullptr;  // rows carry an explanation that speaks of these; null: they carry none
  double epsilon = 0.0;                 // that the model was trained at, beside radii
  ClassTree tree{};                     // rows carry a lineage where it has groups
};

class PredictionWriter {
 public:
  explicit PredictionWriter(const PredictionLayout& layout);

  // What comes before the first row; may be empty.
  std::string header() const;
  // The line of a row, with its newline; with an explanation, as text, three lines.
  std::string line(const PredictedRow& row) const;

 private:
  std::string_view name(const RankedClass& ranked) const {
    return layout_.class_names[static_cast<std::size_t>(ranked.index)];
  }
  std::string_view name(const RankedNode& ranked) const {
    return layout_.tree.names()[static_cast<std::size_t>(ranked.index)];
  }
  std::string_view name_of_support(const NearExample& near) const;
  // The path of a training example, or its number among those that the model keeps.
  std::string support_text(const NearExample& near) const;
  std::string text_line(const PredictedRow& row) const;
  std::string json_line(const PredictedRow& row) const;
  // The label that a row is given, as a field.
  std::string csv_label(const Prediction& prediction) const;
  std::string csv_line(const PredictedRow& row) const;
  std::string text_explanation(const Explanation& explanation) const;
  std::string csv_explanation(const Explanation& explanation) const;

  PredictionLayout layout_;
  PredictionJson json_;
};

}  // namespace annulus::cli
