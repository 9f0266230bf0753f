// How the queries of a task are distributed over its classes: transductive methods gain or lose by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/random.h"

namespace annulus {

// Absent: the same number of queries of each class. Else the fractions of the classes are drawn from the symmetric
// Dirichlet distribution with this concentration (Veilleux et al., 2021): the smaller, the less balanced.
struct QueryBalance {
  std::optional<double> dirichlet{};

  bool operator==(const QueryBalance&) const = default;
};

// "balanced", or "dirichlet:1"; the largest concentration is 1e6 and the smallest 1e-3.
std::string to_string(const QueryBalance& balance);
QueryBalance query_balance_from(std::string_view text);  // throws Error{kUsage}, field query_balance

// Fractions of `classes` classes from the symmetric Dirichlet distribution, which sum to 1. The numbers of the stream
// from `first` on are used.
std::vector<double> draw_fractions(double concentration, std::size_t classes, const RandomStream& stream,
                                   std::uint64_t first);

// `total` as whole numbers in these proportions, by largest remainders, none above its limit: what is over goes to the
// other classes in their proportions. The limits sum to at least `total`.
std::vector<std::size_t> apportion(std::span<const double> fractions, std::size_t total,
                                   std::span<const std::size_t> limits);

// As many of the test examples as have this balance, in their order: all of the class that is scarcest for its
// fraction, but at least one example in all. `labels` are the classes of the rows; classes that none of the rows has
// do not count. A pure function of its arguments.
std::vector<std::uint32_t> balanced_queries(std::span<const std::uint32_t> rows, std::span<const std::int32_t> labels,
                                            const QueryBalance& balance, std::uint64_t seed);

}  // namespace annulus
