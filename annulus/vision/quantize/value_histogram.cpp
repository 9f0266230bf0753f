// Bins by powers of two; the search for a range works on sums over the bins beyond it.
#include "annulus/vision/quantize/value_histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace annulus {
namespace {

constexpr std::size_t kCandidates = 64;  // for either end of the range
constexpr double kNarrowest = 1.0 / kCandidates;
constexpr double kRangeSteps = 255.0;

// What moving the values beyond an end to that end costs: the sum of squared moves, for ends 1/64, 2/64, ... of the
// largest value.
template <class Counts>
std::vector<double> costs_of_ends(const Counts& counts, double width, double largest) {
  std::vector<double> costs(kCandidates, 0.0);
  for (std::size_t end = 0; end < kCandidates; ++end) {
    const double limit = largest * static_cast<double>(end + 1) * kNarrowest;
    for (std::size_t bin = counts.size(); bin-- > 0;) {
      const double value = std::min((static_cast<double>(bin) + 0.5) * width, largest);
      if (value <= limit) break;
      costs[end] += static_cast<double>(counts[bin]) * (value - limit) * (value - limit);
    }
  }
  return costs;
}

}  // namespace

bool ValueHistogram::add(std::span<const float> values) {
  float low = 0.0F;
  float high = 0.0F;
  bool finite = true;
  for (const float value : values) {
    finite = finite && std::isfinite(value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!finite) return false;
  low_ = std::min(low_, low);
  high_ = std::max(high_, high);
  int exponent = 0;
  std::frexp(std::max(-low, high), &exponent);
  widen(exponent);
  const float scale = std::ldexp(static_cast<float>(kBins), -exponent_);
  for (const float value : values) {
    if (value == 0.0F) continue;
    Counts& side = value < 0.0F ? below_ : above_;
    ++side[std::min(kBins - 1, static_cast<std::size_t>(std::fabs(value) * scale))];
    ++count_;
  }
  return true;
}

void ValueHistogram::halve(Counts& counts) {
  for (std::size_t i = 0; i < kBins / 2; ++i) counts[i] = counts[2 * i] + counts[2 * i + 1];
  std::fill(counts.begin() + kBins / 2, counts.end(), 0);
}

void ValueHistogram::widen(int exponent) {
  for (; exponent_ < exponent; ++exponent_) {
    if (count_ == 0) continue;
    halve(below_);
    halve(above_);
  }
}

void ValueHistogram::merge(const ValueHistogram& other) {
  ValueHistogram narrower = other;
  widen(other.exponent_);
  narrower.widen(exponent_);
  for (std::size_t i = 0; i < kBins; ++i) {
    below_[i] += narrower.below_[i];
    above_[i] += narrower.above_[i];
  }
  count_ += other.count_;
  low_ = std::min(low_, other.low_);
  high_ = std::max(high_, other.high_);
}

ValueRange ValueHistogram::best_range() const {
  const double width = std::ldexp(1.0 / static_cast<double>(kBins), exponent_);
  const double low = -static_cast<double>(low_);
  const double high = static_cast<double>(high_);
  const std::vector<double> below = costs_of_ends(below_, width, low);
  const std::vector<double> above = costs_of_ends(above_, width, high);
  double least = HUGE_VAL;
  ValueRange best{low_, high_};
  for (std::size_t i = kCandidates; i-- > 0;) {
    for (std::size_t j = kCandidates; j-- > 0;) {
      const double from = low * static_cast<double>(i + 1) * kNarrowest;
      const double to = high * static_cast<double>(j + 1) * kNarrowest;
      const double step = (from + to) / kRangeSteps;
      const double cost = below[i] + above[j] + static_cast<double>(count_) * step * step / 12.0;
      if (cost >= least) continue;
      least = cost;
      best = {static_cast<float>(-from), static_cast<float>(to)};
    }
  }
  return best;
}

}  // namespace annulus
