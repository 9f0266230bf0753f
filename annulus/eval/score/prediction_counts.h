// PredictionCounts: right predictions, wrong ones and rejections among labelled examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "annulus/eval/score/known_labels.h"

namespace annulus {

struct PredictionCounts {
  std::size_t accepted = 0;  // examples of known classes that were not rejected
  std::size_t correct = 0;   // of these
  std::size_t rejected = 0;  // examples of known classes that were
  std::size_t unknown_inputs = 0;
  std::size_t unknown_rejected = 0;  // of these

  // `truth` is the model's class of the example or kUnknownClass.
  void add(std::int32_t truth, std::int32_t predicted, bool is_rejected) {
    if (truth == kUnknownClass) {
      ++unknown_inputs;
      if (is_rejected) ++unknown_rejected;
    } else if (is_rejected) {
      ++rejected;
    } else {
      ++accepted;
      if (truth == predicted) ++correct;
    }
  }

  std::size_t known() const { return accepted + rejected; }
  // In percent; each is absent where nothing is there to be counted.
  std::optional<double> accuracy() const { return percent(correct, accepted); }  // of the accepted ones
  std::optional<double> false_rejections() const { return percent(rejected, known()); }
  std::optional<double> caught() const { return percent(unknown_rejected, unknown_inputs); }

 private:
  static std::optional<double> percent(std::size_t part, std::size_t whole) {
    if (whole == 0) return std::nullopt;
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  }
};

}  // namespace annulus
