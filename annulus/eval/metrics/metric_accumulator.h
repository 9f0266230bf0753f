// Accumulates metrics over predictions on test examples: accuracy, top-5, recall of each class, confusions,
// calibration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/calibration/confidence_bins.h"

namespace annulus {

inline constexpr std::size_t kMostConfusions = 200;  // kept of a run

struct Confusion {
  std::int32_t truth = 0;
  std::int32_t predicted = 0;
  std::size_t count = 0;
  std::uint32_t example = 0;  // row of the first such mistake
};

// Accuracies, recalls and errors in percent.
struct MetricResult {
  double accuracy = 0.0;
  std::optional<double> top5;             // absent where the method has no scores
  double macro = 0.0;                     // mean recall of the classes that have test examples
  std::optional<double> ece;              // expected calibration error; absent where scores are not probabilities
  std::vector<double> recall;             // per class (equation 3 of the paper); NaN for a class without test examples
  std::vector<Confusion> confusions;      // most frequent first, at most kMostConfusions
  std::vector<ConfidenceBin> confidence;  // kConfidenceBins of them, or none
};

class MetricAccumulator {
 public:
  explicit MetricAccumulator(std::size_t classes);

  // `rows` identify the examples, to name a mistaken one. `scores` may be empty; `probabilities` then has no meaning.
  void add(std::span<const std::uint32_t> rows, std::span<const std::int32_t> truth,
           std::span<const std::int32_t> predicted, ConstMatrixView<float> scores, bool probabilities);
  MetricResult result() const;  // needs at least one example

 private:
  std::vector<std::size_t> correct_;  // per class
  std::vector<std::size_t> counts_;   // examples per class
  std::vector<Confusion> mistakes_;   // one each
  std::size_t ranked_ = 0;            // examples with scores
  std::size_t top5_correct_ = 0;
  bool probabilities_ = false;
  std::array<ConfidenceBin, kConfidenceBins> bins_{};
};

// Merges confusions of several runs: most frequent first; of equal ones, the smaller class indices.
std::vector<Confusion> merge_confusions(std::vector<Confusion> all);

}  // namespace annulus
