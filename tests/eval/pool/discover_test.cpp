// Groups of generated classes, copies and outliers, whatever the order of rows and the number of threads.
#include "annulus/eval/pool/discover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "annulus/base/error.h"
#include "annulus/kernels/gaussian.h"
#include "tests/fixtures/generated_pool.h"

namespace annulus {
namespace {

TEST(Discover, GroupsAreTheClassesWhereTheseAreClear) {
  constexpr std::size_t kClasses = 12;
  constexpr std::size_t kExamples = 30;
  Matrix<float> rows(kClasses * kExamples, 24);
  fill_gaussian({3, RandomUse::kSynthetic, 0}, 0, {rows.data(), rows.rows() * rows.cols()});
  for (std::size_t i = 0; i < rows.rows(); ++i) rows(i, i % kClasses) += 12.0F;
  const PoolGroups found = discover(std::move(rows), {});
  const auto group = group_of_rows(found);
  std::map<std::uint32_t, std::set<std::size_t>> classes;
  for (std::size_t i = 0; i < group.size(); ++i) classes[group[i]].insert(i % kClasses);
  for (const auto& [number, labels] : classes) EXPECT_EQ(labels.size(), 1U) << "group " << number;
  EXPECT_GE(found.kinds(), kClasses);
  EXPECT_LE(found.kinds(), 2 * kClasses);
  for (std::size_t g = 1; g < found.groups.size(); ++g) {
    EXPECT_GE(found.groups[g - 1].rows.size(), found.groups[g].rows.size());
  }
}

TEST(Discover, NeitherThreadsNorTheOrderOfRowsMatter) {
  const FeatureSet set = generated_pool(8, 20, 1.0);
  const PoolGroups one = discover(features_of(set), {}, {1, {}});
  const PoolGroups three = discover(features_of(set), {}, {3, {}});
  const PoolGroups backwards = discover(reversed(features_of(set)), {}, {2, {}});
  ASSERT_EQ(one.groups.size(), three.groups.size());
  ASSERT_EQ(one.groups.size(), backwards.groups.size());
  const auto last = row_number(set.rows() - 1);
  for (std::size_t g = 0; g < one.groups.size(); ++g) {
    EXPECT_EQ(one.groups[g].rows, three.groups[g].rows);
    EXPECT_EQ(one.groups[g].cohesion, backwards.groups[g].cohesion);
    std::vector<std::uint32_t> rows = backwards.groups[g].rows;
    for (std::uint32_t& row : rows) row = last - row;
    EXPECT_EQ(one.groups[g].rows, rows);
  }
}

TEST(Discover, FindsCopiesAndWhatDoesNotBelong) {
  Matrix<float> rows = features_of(generated_pool(5, 20));
  std::copy_n(rows.row(7).begin(), rows.cols(), rows.row(50).begin());
  for (std::size_t k = 0; k < rows.cols(); ++k) rows(60, k) = k % 2 == 0 ? 1.0F : -1.0F;
  const PoolGroups found = discover(std::move(rows), {});
  ASSERT_FALSE(found.copies.empty());
  EXPECT_TRUE(found.copies.front().exact);
  EXPECT_EQ(std::set<std::uint32_t>({found.copies.front().first, found.copies.front().second}),
            (std::set<std::uint32_t>{7, 50}));
  EXPECT_TRUE(std::any_of(found.outliers.begin(), found.outliers.end(), [](const Outlier& o) { return o.row == 60; }));
}

TEST(Discover, GroupsOnlyRowsThatAreLookedAt) {
  const FeatureSet set = generated_pool(4, 15);
  DiscoverOptions options;
  options.looked_at.assign(set.rows(), 0);
  for (std::size_t i = 0; i < set.rows(); i += 2) options.looked_at[i] = 1;
  const PoolGroups found = discover(features_of(set), {}, options);
  const auto group = group_of_rows(found);
  for (std::size_t i = 0; i < set.rows(); ++i) EXPECT_EQ(group[i] == kNoGroup, i % 2 == 1) << i;
}

TEST(Discover, TwoRowsAreTheFewest) {
  Matrix<float> one(1, 3);
  one(0, 0) = 1.0F;
  EXPECT_THROW(discover(one.clone(), {}), Error);
  Matrix<float> two(2, 3);
  two(0, 0) = two(1, 1) = 1.0F;
  EXPECT_EQ(group_of_rows(discover(std::move(two), {})).size(), 2U);
}

}  // namespace
}  // namespace annulus
