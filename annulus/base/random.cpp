// Philox and what is drawn from it one number at a time; bulk Gaussian numbers are in kernels/gaussian.
#include "annulus/base/random.h"

#include <numeric>
#include <utility>

namespace annulus {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t low = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t high = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(high >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(high),
               static_cast<std::uint32_t>(low >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(low)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

std::array<std::uint32_t, 4> RandomStream::block(std::uint64_t index) const {
  return philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream,
                     static_cast<std::uint32_t>(use)},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

std::uint64_t RandomStream::below(std::uint64_t index, std::uint64_t bound) const {
  // 128-bit multiply-shift of 64 random bits: the bias is below bound / 2^64, which no experiment can see.
  const auto words = block(index);
  const std::uint64_t bits = (std::uint64_t{words[1]} << 32) | words[0];
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{bits} * bound) >> 64);
}

double RandomStream::uniform(std::uint64_t index) const {
  const auto words = block(index);
  const std::uint64_t bits = (std::uint64_t{words[1]} << 32) | words[0];
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

std::vector<std::uint32_t> random_permutation(const RandomStream& stream, std::uint32_t epoch, std::size_t count) {
  std::vector<std::uint32_t> order(count);
  random_permutation(stream, epoch, order);
  return order;
}

void random_permutation(const RandomStream& stream, std::uint32_t epoch, std::span<std::uint32_t> order) {
  std::iota(order.begin(), order.end(), 0U);
  const std::uint64_t base = std::uint64_t{epoch} << 32;
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[stream.below(base | (i - 1), i)]);
  }
}

}  // namespace annulus
