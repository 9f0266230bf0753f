// Classes are ordered by what they hold; their names decide only where that is the same.
#include "annulus/learn/distributed/class_order.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

// Each class a list of examples, each example a list of numbers.
using Examples = std::vector<std::vector<std::vector<float>>>;

std::vector<std::size_t> order_of(const Examples& classes, std::vector<std::string> names = {},
                                  std::vector<std::vector<float>> weights = {}) {
  ClassContent content;
  for (const auto& examples : classes) content.counts.push_back(examples.size());
  content.names = names;
  content.row = [&](std::size_t of_class, std::size_t place, std::vector<float>& buffer) {
    buffer = classes[of_class][place];
    return std::span<const float>(buffer);
  };
  if (!weights.empty()) {
    content.weight = [&](std::size_t of_class, std::size_t place) { return weights[of_class][place]; };
  }
  return classes_by_content(content);
}

using Order = std::vector<std::size_t>;

TEST(ClassOrder, IsThatOfTheFirstExamples) {
  EXPECT_EQ(order_of({{{3.0F}}, {{1.0F}, {9.0F}}, {{2.0F}}}, {"a", "b", "c"}), (Order{1, 2, 0}));
  // Rows that are the same for longer than what is kept in memory of them.
  std::vector<float> low(20, 1.0F);
  std::vector<float> high = low;
  high.back() = 2.0F;
  EXPECT_EQ(order_of({{high}, {low}}), (Order{1, 0}));
}

TEST(ClassOrder, ThenThatOfCountsOtherExamplesAndWeights) {
  EXPECT_EQ(order_of({{{1.0F}, {2.0F}}, {{1.0F}}}), (Order{1, 0}));
  EXPECT_EQ(order_of({{{1.0F}, {3.0F}}, {{1.0F}, {2.0F}}}), (Order{1, 0}));
  const Examples same = {{{1.0F}, {2.0F}}, {{1.0F}, {2.0F}}};
  EXPECT_EQ(order_of(same, {"a", "b"}, {{1.0F, 5.0F}, {1.0F, 4.0F}}), (Order{1, 0}));
  EXPECT_EQ(order_of(same, {"b", "a"}), (Order{1, 0}));
  EXPECT_EQ(order_of(same, {"a", "b"}), (Order{0, 1}));
  EXPECT_EQ(order_of(same), (Order{0, 1}));
}

TEST(ClassOrder, ClassesWithoutExamplesComeLast) {
  EXPECT_EQ(order_of({{}, {{2.0F}}, {}, {{1.0F}}}, {"d", "c", "b", "a"}), (Order{3, 1, 2, 0}));
}

}  // namespace
}  // namespace annulus
