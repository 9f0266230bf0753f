// Probabilities of groups are made to fit held-out examples.
#include "annulus/learn/calibration/group_sharpness.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace annulus {
namespace {

const std::vector<std::string> kNames{"a", "b", "c", "d"};
const ClassParents kParents{{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "y"}};

// 40 examples with the same probabilities, of which `right` belong to the first group.
double of_examples(const ClassTree& tree, int right) {
  Matrix<float> probabilities(40, 4);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < 40; ++i) {
    const float row[] = {0.4F, 0.3F, 0.2F, 0.1F};
    std::copy(std::begin(row), std::end(row), probabilities.row(i).begin());
    labels.push_back(static_cast<int>(i) < right ? static_cast<std::int32_t>(i % 2)
                                                 : static_cast<std::int32_t>(2 + i % 2));
  }
  return group_sharpness(tree, std::as_const(probabilities).view(), labels);
}

TEST(GroupSharpness, FollowsHowOftenTheGroupIsRight) {
  const ClassTree tree(kNames, kParents);
  // The sum of the first group is 0.7: 28 of 40.
  EXPECT_NEAR(of_examples(tree, 28), 1.0, 0.02);
  const double cautious = of_examples(tree, 38);
  EXPECT_GT(cautious, 1.5);
  const float row[] = {0.4F, 0.3F, 0.2F, 0.1F};
  const std::vector<float> before = tree.probabilities(row);
  const std::vector<float> after = tree.with_sharpness(cautious).probabilities(row);
  EXPECT_FLOAT_EQ(before[4], 0.7F);
  EXPECT_GT(after[4], 0.8F);
  EXPECT_LT(after[4], 0.95F) << "the prior holds it back";
  EXPECT_EQ(after[0], before[0]) << "classes stay as they are";
  EXPECT_LT(of_examples(tree, 22), 0.9);
}

TEST(GroupSharpness, AGroupIsNeverLessProbableThanWhatIsInIt) {
  const ClassTree tree = ClassTree(kNames, kParents).with_sharpness(0.1);
  const std::vector<float> all = tree.probabilities(std::vector<float>{0.9F, 0.05F, 0.03F, 0.02F});
  EXPECT_GE(all[4], 0.9F);
  EXPECT_LE(all[4], 1.0F);
}

TEST(GroupSharpness, IsOneWithoutGroups) {
  const ClassTree tree(kNames, {{"d", "y"}});
  Matrix<float> probabilities(2, 4);
  EXPECT_EQ(group_sharpness(tree, std::as_const(probabilities).view(), std::vector<std::int32_t>{0, 1}), 1.0);
  EXPECT_EQ(group_sharpness(tree, std::as_const(probabilities).view(), {}), 1.0);
}

}  // namespace
}  // namespace annulus
