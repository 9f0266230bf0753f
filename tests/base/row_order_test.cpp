// Rows and values in a new order.
#include "annulus/base/row_order.h"

#include <gtest/gtest.h>

#include <string>

namespace annulus {
namespace {

TEST(RowOrder, RowsMoveToTheirPlacesAndTheOthersAreDropped) {
  const std::vector<std::vector<std::size_t>> orders = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {1, 2, 0, 4, 3}, {3, 1}, {2}};
  for (const auto& order : orders) {
    Matrix<float> rows(5, 2);
    for (std::size_t i = 0; i < 5; ++i) rows(i, 1) = static_cast<float>(i);
    take_rows(rows, order);
    ASSERT_EQ(rows.rows(), order.size());
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(rows(i, 1), static_cast<float>(order[i]));
  }
}

TEST(RowOrder, ValuesMoveLikeRows) {
  std::vector<std::string> values{"a", "b", "c"};
  take(values, std::vector<std::size_t>{2, 0});
  EXPECT_EQ(values, (std::vector<std::string>{"c", "a"}));
  std::vector<float> none;
  take(none, std::vector<std::size_t>{2, 0});
  EXPECT_TRUE(none.empty());
}

TEST(RowOrder, TheInverseSaysWhereEachNumberIs) {
  EXPECT_EQ(inverse_order(std::vector<std::size_t>{2, 0, 1}), (std::vector<std::size_t>{1, 2, 0}));
}

}  // namespace
}  // namespace annulus
