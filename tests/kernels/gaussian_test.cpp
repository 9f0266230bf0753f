// Gaussian numbers: against a plain reference, in pieces, and as a distribution.
#include "annulus/kernels/gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/fixtures/every_target.h"

namespace annulus {
namespace {

// Number `index` of a stream as the layout defines it, by the standard library.
double reference(const RandomStream& stream, std::uint64_t index) {
  const std::uint64_t within = index % 64;
  const auto words = stream.block(index / 64 * 16 + within % 16);
  const std::size_t word = within / 16;
  const std::size_t pair = word / 2 * 2;
  const double uniform = (static_cast<double>(words[pair] >> 8) + 0.5) * 0x1.0p-24;
  const double radius = std::sqrt(-2.0 * std::log(uniform));
  const double angle = 2.0 * std::numbers::pi * static_cast<double>(words[pair + 1]) * 0x1.0p-32;
  return radius * (word % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

TEST(Gaussian, EqualsThePlainFormula) {
  const RandomStream stream{0x123456789abcdefULL, RandomUse::kTrainingNoise, 77};
  for_every_target([&] {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{13}, (std::uint64_t{1} << 38) + 5}) {
      std::vector<float> numbers(1000);
      fill_gaussian(stream, first, numbers);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(numbers[i]), reference(stream, first + i), 2e-6) << "number " << first + i;
      }
    }
  });
}

TEST(Gaussian, IsTheSameInPieces) {
  const RandomStream stream{5, RandomUse::kTrainingNoise, 1};
  std::vector<float> whole(500);
  fill_gaussian(stream, 0, whole);
  for (const std::size_t length : kAwkwardLengths) {
    for (std::size_t first = 0; first < whole.size(); first += length) {
      std::vector<float> piece(std::min(length, whole.size() - first));
      fill_gaussian(stream, first, piece);
      for (std::size_t i = 0; i < piece.size(); ++i) ASSERT_EQ(piece[i], whole[first + i]);
    }
  }
}

TEST(Gaussian, IsStandardNormal) {
  std::vector<float> numbers(400000);
  fill_gaussian({3, RandomUse::kSynthetic, 0}, 0, numbers);
  double sum = 0.0;
  double squares = 0.0;
  double fourth = 0.0;
  double neighbours = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto x = static_cast<double>(numbers[i]);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    if (i > 0) neighbours += x * static_cast<double>(numbers[i - 1]);
  }
  const auto count = static_cast<double>(numbers.size());
  const double deviations = 4.0 / std::sqrt(count);  // four standard errors of a unit-variance mean
  EXPECT_NEAR(sum / count, 0.0, deviations);
  EXPECT_NEAR(squares / count, 1.0, deviations * std::sqrt(2.0));
  EXPECT_NEAR(fourth / count, 3.0, deviations * std::sqrt(96.0));
  EXPECT_NEAR(neighbours / count, 0.0, deviations);
  // Kolmogorov-Smirnov distance below its 0.1 % point.
  std::sort(numbers.begin(), numbers.end());
  double distance = 0.0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double below = 0.5 * std::erfc(-static_cast<double>(numbers[i]) / std::numbers::sqrt2);
    distance = std::max(distance, std::abs(below - (static_cast<double>(i) + 0.5) / count));
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(count));
}

}  // namespace
}  // namespace annulus
