// Balances of queries: their names, their fractions, and counts that keep to them.
#include "annulus/task/query_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using Counts = std::vector<std::size_t>;

TEST(QueryBalance, NamesAreReadBack) {
  for (const char* name : {"balanced", "dirichlet:1", "dirichlet:0.5", "dirichlet:100"}) {
    EXPECT_EQ(to_string(query_balance_from(name)), name);
  }
  EXPECT_FALSE(query_balance_from("balanced").dirichlet);
  EXPECT_EQ(query_balance_from("dirichlet:2").dirichlet, 2.0);
}

TEST(QueryBalance, OtherNamesAreErrors) {
  for (const char* name : {"", "even", "dirichlet", "dirichlet:", "dirichlet:0", "dirichlet:-1", "dirichlet:1x",
                           "dirichlet:nan", "dirichlet:1e9"}) {
    try {
      query_balance_from(name);
      ADD_FAILURE() << "expected a rejection of " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_EQ(error.field(), "query_balance");
    }
  }
}

// Of the symmetric Dirichlet distribution of K classes with concentration a, a fraction has the mean 1/K and the
// variance (K - 1) / (K^2 (K a + 1)).
TEST(QueryBalance, FractionsHaveTheMomentsOfTheDistribution) {
  constexpr std::size_t kClasses = 5;
  constexpr std::size_t kDraws = 20000;
  for (const double concentration : {0.3, 1.0, 4.0}) {
    double mean = 0.0;
    double square = 0.0;
    for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
      const auto fractions = draw_fractions(concentration, kClasses, {7, RandomUse::kEpisode, draw}, 0);
      ASSERT_EQ(fractions.size(), kClasses);
      EXPECT_NEAR(std::accumulate(fractions.begin(), fractions.end(), 0.0), 1.0, 1e-12);
      mean += fractions[2] / kDraws;
      square += fractions[2] * fractions[2] / kDraws;
    }
    const double variance = 4.0 / (25.0 * (5.0 * concentration + 1.0));
    EXPECT_NEAR(mean, 0.2, 0.01) << concentration;
    EXPECT_NEAR(square - mean * mean, variance, 0.05 * variance) << concentration;
  }
}

TEST(QueryBalance, TinyConcentrationsLeaveOneClass) {
  for (std::uint32_t draw = 0; draw < 50; ++draw) {
    const auto fractions = draw_fractions(1e-3, 4, {1, RandomUse::kEpisode, draw}, 0);
    EXPECT_GT(*std::max_element(fractions.begin(), fractions.end()), 0.5);
    EXPECT_NEAR(std::accumulate(fractions.begin(), fractions.end(), 0.0), 1.0, 1e-12);
  }
}

TEST(QueryBalance, CountsAreLargestRemainders) {
  const Counts plenty(3, 100);
  EXPECT_EQ(apportion(std::vector{0.5, 0.3, 0.2}, 10, plenty), (Counts{5, 3, 2}));
  EXPECT_EQ(apportion(std::vector{0.45, 0.33, 0.22}, 10, plenty), (Counts{5, 3, 2}));
  EXPECT_EQ(apportion(std::vector{1.0, 0.0, 0.0}, 7, plenty), (Counts{7, 0, 0}));
  EXPECT_EQ(apportion(std::vector{0.25, 0.25, 0.5}, 1, plenty), (Counts{0, 0, 1}));
}

TEST(QueryBalance, WhatAClassLacksTheOthersHave) {
  EXPECT_EQ(apportion(std::vector{0.8, 0.1, 0.1}, 10, Counts{4, 100, 100}), (Counts{4, 3, 3}));
  EXPECT_EQ(apportion(std::vector{0.8, 0.19, 0.01}, 10, Counts{4, 3, 100}), (Counts{4, 3, 3}));
  EXPECT_EQ(apportion(std::vector{1.0, 0.0, 0.0}, 10, Counts{4, 5, 5}), (Counts{4, 3, 3}));
  EXPECT_EQ(apportion(std::vector{1.0, 0.0, 0.0}, 12, Counts{4, 5, 3}), (Counts{4, 5, 3}));
}

std::vector<std::int32_t> thirty_of_each_of_three() {
  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < 90; ++i) labels.push_back(i % 3);
  return labels;
}

TEST(QueryBalance, BalancedTestExamplesAreAsManyOfEachClass) {
  const auto labels = thirty_of_each_of_three();
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < 90; ++i) {
    if (labels[i] != 1 || i < 30) rows.push_back(i);  // ten of class 1
  }
  const auto chosen = balanced_queries(rows, labels, {}, 3);
  Counts counts(3, 0);
  for (const std::uint32_t row : chosen) ++counts[static_cast<std::size_t>(labels[row])];
  EXPECT_EQ(counts, (Counts{10, 10, 10}));
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(chosen, balanced_queries(rows, labels, {}, 3));
  EXPECT_NE(chosen, balanced_queries(rows, labels, {}, 4));
}

TEST(QueryBalance, UnbalancedTestExamplesUseAllOfOneClass) {
  const auto labels = thirty_of_each_of_three();
  std::vector<std::uint32_t> rows(90);
  std::iota(rows.begin(), rows.end(), 0U);
  std::set<Counts> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto chosen = balanced_queries(rows, labels, {1.0}, seed);
    Counts counts(3, 0);
    for (const std::uint32_t row : chosen) ++counts[static_cast<std::size_t>(labels[row])];
    EXPECT_EQ(*std::max_element(counts.begin(), counts.end()), 30U);
    EXPECT_EQ(std::set<std::uint32_t>(chosen.begin(), chosen.end()).size(), chosen.size());
    seen.insert(counts);
  }
  EXPECT_GT(seen.size(), 15U);
  EXPECT_TRUE(balanced_queries({}, labels, {1.0}, 0).empty());
}

}  // namespace
}  // namespace annulus
