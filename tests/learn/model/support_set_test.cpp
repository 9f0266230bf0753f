// What a model keeps of the rows it learnt from.
#include "annulus/learn/model/support_set.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/base/error.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

// `count` rows of class 0 and two of class 1; the first number of a row is its number plus 1.
LabelledExamples numbered_rows(std::size_t count) {
  LabelledExamples rows;
  rows.features = Matrix<float>(count + 2, 2);
  rows.classes = 2;
  for (std::size_t i = 0; i < count + 2; ++i) {
    rows.features(i, 0) = static_cast<float>(i + 1);
    rows.features(i, 1) = 3.0F;
    rows.labels.push_back(i < count ? 0 : 1);
  }
  return rows;
}

TEST(SupportSet, AreOfLengthOneInHalfPrecision) {
  const SupportSet support = keep_support(numbered_rows(3), {});
  ASSERT_EQ(support.rows(), 5U);
  EXPECT_TRUE(support.paths.empty());
  for (std::size_t i = 0; i < support.rows(); ++i) {
    const double x = static_cast<double>(support.features(i, 0));
    const double y = static_cast<double>(support.features(i, 1));
    EXPECT_NEAR(std::hypot(x, y), 1.0, 1e-3);
    EXPECT_NEAR(x / y, (static_cast<double>(i) + 1.0) / 3.0, 2e-3 * (x / y));
    EXPECT_EQ(x * 4096.0, std::round(x * 4096.0));  // eleven bits of a number below 1 and above 1/4
  }
}

TEST(SupportSet, OfALargeClassAreEvenlySpaced) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < 4 * kMostSupportExamples + 2; ++i) paths.push_back(std::to_string(i));
  const SupportSet support = keep_support(numbered_rows(4 * kMostSupportExamples), paths);
  ASSERT_EQ(support.rows(), kMostSupportExamples + 2);
  for (std::size_t i = 0; i < kMostSupportExamples; ++i) EXPECT_EQ(support.paths[i], std::to_string(4 * i + 3));
  EXPECT_EQ(support.labels.back(), 1);
}

TEST(SupportSet, ARowWithoutLengthIsRejected) {
  LabelledExamples rows = numbered_rows(2);
  rows.features(1, 0) = 0.0F;
  rows.features(1, 1) = 0.0F;
  EXPECT_THROW(keep_support(rows, {}), Error);
}

}  // namespace
}  // namespace annulus
