// Rotary positions: tokens in front stay, others turn by angles that depend on their places.
#include "annulus/vision/networks/token_positions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace annulus {
namespace {

TEST(TokenPositions, WaveLengthsGrowFromOne) {
  const std::vector<float> periods = usual_periods(16);
  ASSERT_EQ(periods.size(), 4U);
  EXPECT_FLOAT_EQ(periods[0], 1.0F);
  EXPECT_FLOAT_EQ(periods[1], std::sqrt(10.0F));
  EXPECT_FLOAT_EQ(periods[2], 10.0F);
}

TEST(TokenPositions, RotationKeepsLengthsAndTheTokensInFront) {
  constexpr std::int64_t kWidth = 16;
  constexpr int kHeads = 2;
  const RotaryTables tables = rotary_tables(3, 2, kWidth, kHeads, usual_periods(kWidth / kHeads));
  ASSERT_EQ(tables.cosine.size(), static_cast<std::size_t>((3 + 4) * kWidth));
  for (std::size_t i = 0; i < tables.cosine.size(); ++i) {
    EXPECT_NEAR(tables.cosine[i] * tables.cosine[i] + tables.sine[i] * tables.sine[i], 1.0F, 1e-6F);
  }
  for (std::size_t i = 0; i < 3 * kWidth; ++i) EXPECT_EQ(tables.sine[i], 0.0F);
  // Partners are each other's, in the same head, and turn in opposite directions.
  for (std::size_t k = 0; k < kWidth; ++k) {
    const auto partner = static_cast<std::size_t>(tables.partner[k]);
    EXPECT_EQ(partner / 8, k / 8);
    EXPECT_EQ(tables.partner[partner], static_cast<std::int64_t>(k));
    EXPECT_EQ(tables.sine[3 * kWidth + k], -tables.sine[3 * kWidth + partner]);
  }
}

TEST(TokenPositions, RowsComeBeforeColumns) {
  // Two by two patches, centres at -1/2 and 1/2; one head of four dimensions, so one wave along rows and one along
  // columns.
  const RotaryTables tables = rotary_tables(0, 2, 4, 1, {4.0F});
  const auto angle = [&](std::size_t patch, std::size_t wave) {
    return std::atan2(-tables.sine[patch * 4 + wave], tables.cosine[patch * 4 + wave]);
  };
  const float quarter = std::numbers::pi_v<float> / 4;  // 2 pi / 4 * 1/2
  EXPECT_NEAR(angle(1, 0), -quarter, 1e-6F);
  EXPECT_NEAR(angle(1, 1), quarter, 1e-6F);
  EXPECT_NEAR(angle(2, 0), quarter, 1e-6F);
  EXPECT_NEAR(angle(2, 1), -quarter, 1e-6F);
}

}  // namespace
}  // namespace annulus
