// Steps of 1, 2 and 5 times a power of ten.
#include "annulus/report/plot/axis_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace annulus {
namespace {

constexpr double kSmallestOnLogAxis = 1e-9;

// The least of 1, 2, 5, 10, 20, ... times a power of ten that is at least `step`.
double round_up_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (step <= factor * power * (1.0 + 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

int decimals_for(double step) { return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12); }

}  // namespace

double Axis::position(double value) const {
  const double fraction = logarithmic ? std::log(std::max(value, kSmallestOnLogAxis) / low) / std::log(high / low)
                                      : (value - low) / (high - low);
  return std::clamp(fraction, 0.0, 1.0);
}

Axis linear_axis(double low, double high, int wanted) {
  if (low > high) std::swap(low, high);
  const double least_range = std::max({1e-6, 1e-6 * std::abs(low), 1e-6 * std::abs(high)});
  if (high - low < least_range) {
    low -= 0.5 * std::max(1.0, least_range);
    high += 0.5 * std::max(1.0, least_range);
  }
  const double step = round_up_step((high - low) / std::max(1, wanted));
  Axis axis;
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  axis.low = first * step;
  axis.high = last * step;
  for (double i = first; i <= last; i += 1.0) axis.ticks.push_back(i * step);
  axis.ticks.back() = axis.high;
  return axis;
}

Axis log_axis(double low, double high) {
  low = std::max(low, kSmallestOnLogAxis);
  high = std::max(high, low);
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  auto last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  if (last <= first) last = first + 1;
  Axis axis;
  axis.logarithmic = true;
  axis.low = std::pow(10.0, first);
  axis.high = std::pow(10.0, last);
  const int stride = (last - first + 7) / 8;
  for (int power = first; power <= last; power += stride) {
    axis.ticks.push_back(power == last ? axis.high : std::pow(10.0, power));
  }
  return axis;
}

std::vector<std::string> tick_labels(const Axis& axis) {
  std::vector<std::string> labels;
  int decimals = 0;
  if (!axis.logarithmic && axis.ticks.size() > 1) decimals = decimals_for(axis.ticks[1] - axis.ticks[0]);
  for (const double tick : axis.ticks) {
    if (axis.logarithmic) decimals = tick < 1.0 ? decimals_for(tick) : 0;
    std::string label = fmt::format("{:.{}f}", std::abs(tick), decimals);
    if (tick < 0.0 && label.find_first_not_of("0.") != std::string::npos) label.insert(0, "\u2212");
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace annulus
