// Counter-based random numbers: number i of a stream is a pure function of (seed, stream, i).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace annulus {

// Philox4x32 with ten rounds (Salmon et al., SC 2011): 128 bits of counter and 64 bits of key to 128 random bits.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// What a stream of random numbers is for; streams with different purposes never share numbers.
enum class RandomUse : std::uint32_t {
  kSupportDraw = 1,
  kHeadInit = 2,
  kShuffle = 3,
  kTrainingNoise = 4,
  kProbeNoise = 5,
  kSynthetic = 6,
  kEpisode = 7,
  kCalibration = 8,
  kSignFlips = 9,
  kAudit = 10,
  kProjection = 11,
};

// A random stream. Copies are independent values: there is no hidden position, numbers are asked for by index.
struct RandomStream {
  std::uint64_t seed = 0;
  RandomUse use = RandomUse::kSynthetic;
  std::uint32_t stream = 0;  // e.g. the number of a training run, a split or an episode

  // Random bits number `block`, four words at once (blocks up to 2^64).
  std::array<std::uint32_t, 4> block(std::uint64_t index) const;
  // Uniform in [0, bound), bound > 0; the bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t index, std::uint64_t bound) const;
  // Uniform in [0, 1) with 53 bits.
  double uniform(std::uint64_t index) const;
};

// A random order of 0..count-1; `epoch` selects one of many independent orders of the stream.
std::vector<std::uint32_t> random_permutation(const RandomStream& stream, std::uint32_t epoch, std::size_t count);
// The same into `order`, which holds as many numbers, without allocating.
void random_permutation(const RandomStream& stream, std::uint32_t epoch, std::span<std::uint32_t> order);

}  // namespace annulus
