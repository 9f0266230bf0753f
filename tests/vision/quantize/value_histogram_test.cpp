// Counts do not depend on the order of what is counted; ranges leave out rare large values.
#include "annulus/vision/quantize/value_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace annulus {
namespace {

std::vector<float> wave(std::size_t count, float size) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = size * std::sin(static_cast<float>(i * i % 1009));
  return values;
}

TEST(ValueHistogram, OrderChangesNothing) {
  const std::vector<std::vector<float>> parts = {wave(500, 0.01F), wave(700, 30.0F), wave(300, 1.0F)};
  ValueHistogram forward;
  for (const auto& part : parts) EXPECT_TRUE(forward.add(part));
  ValueHistogram backward;
  for (std::size_t i = parts.size(); i-- > 0;) {
    ValueHistogram one;
    EXPECT_TRUE(one.add(parts[i]));
    backward.merge(one);
  }
  EXPECT_EQ(forward.count(), backward.count());
  EXPECT_EQ(forward.best_range(), backward.best_range());
}

TEST(ValueHistogram, RareLargeValuesAreMovedToTheEnd) {
  std::vector<float> values = wave(100000, 1.0F);
  ValueHistogram plain;
  plain.add(values);
  EXPECT_NEAR(plain.best_range().high, 1.0F, 0.05F);
  EXPECT_NEAR(plain.best_range().low, -1.0F, 0.05F);
  values[17] = 20.0F;
  ValueHistogram outlier;
  outlier.add(values);
  // One value moved by 20 - t costs (20 - t)^2, and the steps of all others (1 + t)^2 / 255^2 / 12 each: least at 17.6,
  // to which 56/64 of the largest value is the nearest end.
  EXPECT_EQ(outlier.best_range().high, 17.5F);
}

TEST(ValueHistogram, ZerosAndNothing) {
  ValueHistogram histogram;
  EXPECT_TRUE(histogram.add(std::vector<float>(100, 0.0F)));
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.best_range(), (ValueRange{0.0F, 0.0F}));
  histogram.add(std::vector<float>{0.5F, 2.0F});
  EXPECT_EQ(histogram.best_range().low, 0.0F);
  EXPECT_EQ(histogram.best_range().high, 2.0F);
}

TEST(ValueHistogram, ValuesThatAreNotFiniteAreNotCounted) {
  ValueHistogram histogram;
  EXPECT_FALSE(histogram.add(std::vector<float>{1.0F, std::numeric_limits<float>::infinity()}));
  EXPECT_FALSE(histogram.add(std::vector<float>{std::nanf("")}));
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_TRUE(histogram.add(std::vector<float>{std::numeric_limits<float>::max()}));
}

}  // namespace
}  // namespace annulus
