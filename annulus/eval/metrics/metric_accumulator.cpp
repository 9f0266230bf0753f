// Accumulates metrics of predictions.
#include "annulus/eval/metrics/metric_accumulator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <tuple>

namespace annulus {
namespace {

constexpr std::size_t kTop = 5;

// Whether fewer than kTop classes rank above `truth`; of equal scores the first class ranks higher, as in predictions.
bool among_the_first(std::span<const float> scores, std::size_t truth) {
  std::size_t ahead = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (scores[c] > scores[truth] || (scores[c] == scores[truth] && c < truth)) ++ahead;
  }
  return ahead < kTop;
}

double percent(std::size_t part, std::size_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

MetricAccumulator::MetricAccumulator(std::size_t classes) : correct_(classes, 0), counts_(classes, 0) {}

void MetricAccumulator::add(std::span<const std::uint32_t> rows, std::span<const std::int32_t> truth,
                            std::span<const std::int32_t> predicted, ConstMatrixView<float> scores,
                            bool probabilities) {
  assert(rows.size() == truth.size() && truth.size() == predicted.size());
  assert(scores.rows() == 0 || scores.rows() == truth.size());
  probabilities_ = probabilities && scores.rows() > 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto label = static_cast<std::size_t>(truth[i]);
    const bool right = truth[i] == predicted[i];
    ++counts_[label];
    if (right) ++correct_[label];
    if (!right) mistakes_.push_back({truth[i], predicted[i], 1, rows[i]});
    if (scores.rows() == 0) continue;
    ++ranked_;
    if (among_the_first(scores.row(i), label)) ++top5_correct_;
    if (!probabilities) continue;
    const auto confidence = static_cast<double>(scores(i, static_cast<std::size_t>(predicted[i])));
    add_confidence(bins_, confidence, right);
  }
}

MetricResult MetricAccumulator::result() const {
  MetricResult result;
  std::size_t correct = 0;
  std::size_t rows = 0;
  std::size_t tested = 0;
  for (std::size_t c = 0; c < counts_.size(); ++c) {
    correct += correct_[c];
    rows += counts_[c];
    result.recall.push_back(counts_[c] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                            : percent(correct_[c], counts_[c]));
    if (counts_[c] == 0) continue;
    ++tested;
    result.macro += result.recall.back();
  }
  assert(rows > 0);
  result.accuracy = percent(correct, rows);
  result.macro /= static_cast<double>(tested);
  if (ranked_ > 0) result.top5 = percent(top5_correct_, ranked_);
  if (probabilities_) {
    result.confidence.assign(bins_.begin(), bins_.end());
    result.ece = expected_calibration_error(result.confidence);
  }
  result.confusions = merge_confusions(mistakes_);
  if (result.confusions.size() > kMostConfusions) result.confusions.resize(kMostConfusions);
  return result;
}

std::vector<Confusion> merge_confusions(std::vector<Confusion> all) {
  const auto pair = [](const Confusion& confusion) { return std::tuple(confusion.truth, confusion.predicted); };
  std::stable_sort(all.begin(), all.end(), [&](const Confusion& a, const Confusion& b) { return pair(a) < pair(b); });
  std::vector<Confusion> merged;
  for (const Confusion& confusion : all) {
    if (!merged.empty() && pair(merged.back()) == pair(confusion)) {
      merged.back().count += confusion.count;
    } else {
      merged.push_back(confusion);
    }
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  return merged;
}

}  // namespace annulus
