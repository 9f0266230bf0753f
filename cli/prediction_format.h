// Predictions as lines of text, JSON or CSV.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/eval/ranking.h"

namespace annulus::cli {

enum class PredictionFormat { kText, kJsonLines, kCsv };

PredictionFormat prediction_format_from(std::string_view name);  // throws Error{kUsage}

// One predicted row: named by its path where there is one, else by its number.
struct PredictedRow {
  std::size_t row = 0;
  std::string_view path;  // may be empty
  std::span<const RankedClass> top;
};

class PredictionWriter {
 public:
  PredictionWriter(PredictionFormat format, std::span<const std::string> class_names, bool has_paths, std::size_t top)
      : format_(format), class_names_(class_names), has_paths_(has_paths), top_(top) {}

  // What comes before the first row; may be empty.
  std::string header() const;
  // The line of a row, with its newline.
  std::string line(const PredictedRow& row) const;

 private:
  std::string_view name(const RankedClass& ranked) const {
    return class_names_[static_cast<std::size_t>(ranked.index)];
  }
  std::string text_line(const PredictedRow& row) const;
  std::string json_line(const PredictedRow& row) const;
  std::string csv_line(const PredictedRow& row) const;

  PredictionFormat format_;
  std::span<const std::string> class_names_;
  bool has_paths_;
  std::size_t top_;
};

}  // namespace annulus::cli
