// Known answers of Philox, and what is built on it.
#include "annulus/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace annulus {
namespace {

// The published known-answer vectors of Random123 for philox4x32-10.
TEST(Philox, KnownAnswers) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, IsAPureFunctionOfItsIndex) {
  const RandomStream stream{7, RandomUse::kShuffle, 3};
  EXPECT_EQ(stream.block(5), (RandomStream{7, RandomUse::kShuffle, 3}.block(5)));
  EXPECT_NE(stream.block(5), stream.block(6));
  EXPECT_NE(stream.block(5), (RandomStream{8, RandomUse::kShuffle, 3}.block(5)));
  EXPECT_NE(stream.block(5), (RandomStream{7, RandomUse::kHeadInit, 3}.block(5)));
  EXPECT_NE(stream.block(5), (RandomStream{7, RandomUse::kShuffle, 4}.block(5)));
}

TEST(RandomStream, BelowIsUniform) {
  const RandomStream stream{1, RandomUse::kShuffle, 0};
  std::vector<int> counts(10, 0);
  constexpr int kSplits = 20000;
  for (int i = 0; i < kSplits; ++i) ++counts[stream.below(static_cast<std::uint64_t>(i), 10)];
  double chi_squared = 0;
  for (const int count : counts) chi_squared += (count - kSplits / 10.0) * (count - kSplits / 10.0) / (kSplits / 10.0);
  EXPECT_LT(chi_squared, 27.9);  // 0.1 % point of chi squared with 9 degrees of freedom
}

TEST(RandomPermutation, IsAPermutationThatDependsOnTheEpoch) {
  const RandomStream stream{1, RandomUse::kShuffle, 0};
  const auto first = random_permutation(stream, 0, 1000);
  EXPECT_NE(first, random_permutation(stream, 1, 1000));
  EXPECT_EQ(first, random_permutation(stream, 0, 1000));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(sorted[i], i);
}

}  // namespace
}  // namespace annulus
