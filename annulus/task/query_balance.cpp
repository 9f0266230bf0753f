// Samples a Dirichlet distribution by gamma variates, and rounds fractions to counts.
#include "annulus/task/query_balance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::string_view kBalanced = "balanced";
constexpr std::string_view kDirichlet = "dirichlet:";
constexpr double kLeastConcentration = 1e-3;
constexpr double kMostConcentration = 1e6;
constexpr std::uint32_t kFractionsStream = std::numeric_limits<std::uint32_t>::max();  // others are classes
constexpr std::uint32_t kQueryOrder = 1;  // epoch of the orders of queries; 0 is that of training examples

// In (0, 1]: its logarithm exists.
double positive_uniform(const RandomStream& stream, std::uint64_t& used) { return 1.0 - stream.uniform(used++); }

// The logarithm of a gamma variate of this shape and scale 1 (Marsaglia and Tsang, 2000). Shapes below 1 come from
// shape + 1 and a power of a uniform number, which a double may not hold but its logarithm does.
double log_gamma_variate(double shape, const RandomStream& stream, std::uint64_t& used) {
  if (shape < 1.0) {
    const double boost = std::log(positive_uniform(stream, used)) / shape;
    return boost + log_gamma_variate(shape + 1.0, stream, used);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double radius = std::sqrt(-2.0 * std::log(positive_uniform(stream, used)));
    const double normal = radius * std::cos(2.0 * std::numbers::pi * stream.uniform(used++));
    const double accepted = std::log(positive_uniform(stream, used));
    const double root = 1.0 + c * normal;
    if (root <= 0.0) continue;
    const double log_cube = 3.0 * std::log(root);
    const double cube = root * root * root;
    if (accepted < 0.5 * normal * normal + d - d * cube + d * log_cube) return std::log(d) + log_cube;
  }
}

}  // namespace

std::string to_string(const QueryBalance& balance) {
  return balance.dirichlet ? fmt::format("{}{}", kDirichlet, *balance.dirichlet) : std::string(kBalanced);
}

QueryBalance query_balance_from(std::string_view text) {
  if (text == kBalanced) return {};
  if (text.starts_with(kDirichlet)) {
    const std::string_view number = text.substr(kDirichlet.size());
    double value = 0.0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    const bool whole = error == std::errc() && end == number.data() + number.size();
    if (whole && value >= kLeastConcentration && value <= kMostConcentration) return {value};
  }
  fail_field(ErrorKind::kUsage, "query_balance",
             "expected {} to be balanced or dirichlet:A with A from {} to {}, found \"{}\"", kLeastConcentration,
             kMostConcentration, text);
}

std::vector<double> draw_fractions(double concentration, std::size_t classes, const RandomStream& stream,
                                   std::uint64_t first) {
  std::vector<double> fractions;
  for (std::size_t c = 0; c < classes; ++c) fractions.push_back(log_gamma_variate(concentration, stream, first));
  const double largest = *std::max_element(fractions.begin(), fractions.end());
  for (double& value : fractions) value = std::exp(value - largest);
  const double sum = std::accumulate(fractions.begin(), fractions.end(), 0.0);
  for (double& value : fractions) value /= sum;
  return fractions;
}

std::vector<std::size_t> apportion(std::span<const double> fractions, std::size_t total,
                                   std::span<const std::size_t> limits) {
  std::vector<std::size_t> counts(fractions.size(), 0);
  std::vector<std::size_t> unfilled(fractions.size());
  std::iota(unfilled.begin(), unfilled.end(), std::size_t{0});
  std::vector<double> wanted(fractions.size(), 0.0);
  std::size_t left = total;
  for (bool settled = false; !settled;) {
    double sum = 0.0;
    for (const std::size_t c : unfilled) sum += fractions[c];
    const auto share = static_cast<double>(left);
    for (const std::size_t c : unfilled) {
      wanted[c] = share * (sum > 0.0 ? fractions[c] / sum : 1.0 / static_cast<double>(unfilled.size()));
    }
    const std::size_t before = unfilled.size();
    std::erase_if(unfilled, [&](std::size_t c) {
      if (wanted[c] < static_cast<double>(limits[c])) return false;
      counts[c] = limits[c];
      left -= limits[c];
      return true;
    });
    settled = unfilled.size() == before;
  }
  for (const std::size_t c : unfilled) {
    counts[c] = static_cast<std::size_t>(wanted[c]);
    left -= counts[c];
    wanted[c] -= std::floor(wanted[c]);
  }
  std::stable_sort(unfilled.begin(), unfilled.end(),
                   [&](std::size_t a, std::size_t b) { return wanted[a] > wanted[b]; });
  for (std::size_t i = 0; i < left; ++i) ++counts[unfilled[i]];
  return counts;
}

std::vector<std::uint32_t> balanced_queries(std::span<const std::uint32_t> rows, std::span<const std::int32_t> labels,
                                            const QueryBalance& balance, std::uint64_t seed) {
  std::map<std::int32_t, std::vector<std::uint32_t>> by_class;
  for (const std::uint32_t row : rows) by_class[labels[row]].push_back(row);
  if (by_class.empty()) return {};
  const std::vector<double> fractions =
      balance.dirichlet
          ? draw_fractions(*balance.dirichlet, by_class.size(), {seed, RandomUse::kSupportDraw, kFractionsStream}, 0)
          : std::vector<double>(by_class.size(), 1.0 / static_cast<double>(by_class.size()));
  double total = std::numeric_limits<double>::infinity();
  std::size_t index = 0;
  for (const auto& [label, members] : by_class) {
    const double fraction = fractions[index++];
    if (fraction > 0.0) total = std::min(total, static_cast<double>(members.size()) / fraction);
  }
  std::vector<std::uint32_t> chosen;
  index = 0;
  for (const auto& [label, members] : by_class) {
    // Rounding may not take the count above what there is.
    const auto count = std::min(members.size(), static_cast<std::size_t>(std::lround(total * fractions[index++])));
    const auto order = random_permutation({seed, RandomUse::kSupportDraw, static_cast<std::uint32_t>(label)},
                                          kQueryOrder, members.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(members[order[i]]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace annulus
