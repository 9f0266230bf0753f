// Joined rows: means over views, lengths of parts, and what cannot be joined.
#include "annulus/pipeline/joined_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

using Rows = std::vector<std::vector<float>>;

// rows: part by part, two views each.
std::vector<float> joined(const std::vector<std::size_t>& dimensions, const std::vector<std::size_t>& views,
                          const Rows& rows) {
  std::size_t all = 0;
  for (const std::size_t dimension : dimensions) all += dimension;
  std::vector<float> out(all);
  join_row(
      dimensions, views, "photo.jpg",
      [&](std::size_t part, std::size_t view) { return std::span<const float>(rows[2 * part + view]); }, out);
  return out;
}

TEST(JoinRow, OfOneNetworkIsTheMeanOverViews) {
  const Rows rows{{1, 2, 3}, {3, 2, -1}};
  EXPECT_EQ(joined({3}, {0, 1}, rows), (std::vector<float>{2, 2, 1}));
  EXPECT_EQ(joined({3}, {1}, rows), rows[1]) << "a single view stays as it is";
}

TEST(JoinRow, ScalesEachOfSeveralNetworks) {
  const Rows rows{{3, 4}, {3, 4}, {0, 0, 10}, {0, 10, 0}};
  const std::vector<float> row = joined({2, 3}, {0, 1}, rows);
  EXPECT_FLOAT_EQ(row[0], 0.6F);
  EXPECT_FLOAT_EQ(row[1], 0.8F);
  EXPECT_FLOAT_EQ(row[2], 0.0F);
  EXPECT_FLOAT_EQ(row[3], std::sqrt(0.5F));
  EXPECT_FLOAT_EQ(row[4], std::sqrt(0.5F));
}

TEST(JoinRow, RejectsViewsThatCancelOut) {
  expect_error(ErrorKind::kInput, "photo.jpg: its features are all zero", [] {
    joined({2}, {0, 1}, {{1, -2}, {-1, 2}});
  });
}

}  // namespace
}  // namespace annulus
