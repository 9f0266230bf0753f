// Noise rows that are kept are those of the stream, and the bank does not grow beyond its bytes.
#include "annulus/learn/method/noise_bank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "annulus/kernels/gaussian.h"

namespace annulus {
namespace {

TEST(NoiseBank, GivesTheNumbersOfTheStream) {
  NoiseBank bank(std::size_t{1} << 20);
  const RandomStream stream{3, RandomUse::kTrainingNoise, 7};
  const auto rows = bank.rows(stream, 5, 4, 6);
  ASSERT_EQ(rows.rows(), 4U);
  for (std::size_t r = 0; r < 4; ++r) {
    std::vector<float> expected(6);
    fill_gaussian(stream, noise_row_start(5, r, 6), expected);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), rows.row(r).begin()));
  }
  EXPECT_EQ(bank.rows(stream, 5, 4, 6).data(), rows.data()) << "kept, not made again";
  EXPECT_NE(bank.rows(stream, 6, 4, 6).data(), rows.data());
}

TEST(NoiseBank, GivesNothingOnceItIsFull) {
  NoiseBank bank(4 * 6 * sizeof(float));
  const RandomStream stream{3, RandomUse::kTrainingNoise, 7};
  EXPECT_EQ(bank.rows(stream, 0, 4, 6).rows(), 4U);
  EXPECT_EQ(bank.rows(stream, 1, 4, 6).rows(), 0U);
  EXPECT_EQ(bank.rows(stream, 0, 4, 6).rows(), 4U) << "what is there stays";
}

}  // namespace
}  // namespace annulus
