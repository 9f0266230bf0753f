// Counts what a method's answers on test rows come to: accuracy, top-5, recall of each class, confusions, calibration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

inline constexpr std::size_t kConfidenceBins = 15;
inline constexpr std::size_t kMostConfusions = 200;  // kept of a run

struct Confusion {
  std::int32_t truth = 0;
  std::int32_t predicted = 0;
  std::size_t count = 0;
  std::uint32_t example = 0;  // row of the first such mistake
};

// Test rows whose confidence fell into one fifteenth of 0 to 1.
struct ConfidenceBin {
  double confidence = 0.0;  // sum over its rows
  std::size_t hits = 0;
  std::size_t count = 0;
};

// Accuracies, recalls and errors in percent.
struct TallyResult {
  double accuracy = 0.0;
  std::optional<double> top5;             // absent where the method has no scores
  double macro = 0.0;                     // mean recall of the classes that have test rows
  std::optional<double> ece;              // expected calibration error; absent where scores are not probabilities
  std::vector<double> recall;             // of each class; NaN where a class has no test row
  std::vector<Confusion> confusions;      // most frequent first, at most kMostConfusions
  std::vector<ConfidenceBin> confidence;  // kConfidenceBins of them, or none
};

class Tally {
 public:
  explicit Tally(std::size_t classes);

  // `rows` are the numbers by which examples of mistakes are named; scores may be empty, and then `probabilities` has
  // no meaning.
  void add(std::span<const std::uint32_t> rows, std::span<const std::int32_t> truth,
           std::span<const std::int32_t> predicted, ConstMatrixView<float> scores, bool probabilities);
  TallyResult result() const;  // of at least one row

 private:
  std::vector<std::size_t> hits_;    // of each class
  std::vector<std::size_t> counts_;  // rows of each class
  std::vector<Confusion> mistakes_;  // one each
  std::size_t ranked_ = 0;           // rows that came with scores
  std::size_t top5_hits_ = 0;
  bool probabilities_ = false;
  std::array<ConfidenceBin, kConfidenceBins> bins_{};
};

// 100 * sum over bins of count / all * |mean confidence - accuracy|.
double expected_calibration_error(std::span<const ConfidenceBin> bins);

// Adds up confusions of several runs; most frequent first, of equals the smaller classes.
std::vector<Confusion> merge_confusions(std::vector<Confusion> all);

}  // namespace annulus
