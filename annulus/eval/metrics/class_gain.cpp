// Sorts classes and averages their gains.
#include "annulus/eval/metrics/class_gain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "annulus/base/error.h"

namespace annulus {

ClassGain class_gain(std::span<const double> baseline, std::span<const double> method, std::size_t bins) {
  if (baseline.size() != method.size() || bins == 0) {
    fail(ErrorKind::kUsage, "expected the recall of the same classes twice and at least one bin, found {}, {} and {}",
         baseline.size(), method.size(), bins);
  }
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < baseline.size(); ++c) {
    if (std::isfinite(baseline[c]) && std::isfinite(method[c])) order.push_back(c);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return baseline[a] < baseline[b]; });
  ClassGain result;
  result.classes = order.size();
  if (order.empty()) return result;
  const auto fraction = 100.0 / static_cast<double>(order.size());
  for (const std::size_t c : order) {
    if (method[c] > baseline[c]) result.improved += fraction;
    if (method[c] < baseline[c]) result.worsened += fraction;
  }
  bins = std::min(bins, order.size());
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const std::size_t first = bin * order.size() / bins;
    const std::size_t end = (bin + 1) * order.size() / bins;
    GainBin entry{end - first, 0.0, 0.0};
    for (std::size_t i = first; i < end; ++i) {
      entry.baseline += baseline[order[i]] / static_cast<double>(entry.classes);
      entry.gain += (method[order[i]] - baseline[order[i]]) / static_cast<double>(entry.classes);
    }
    result.bins.push_back(entry);
  }
  return result;
}

}  // namespace annulus
