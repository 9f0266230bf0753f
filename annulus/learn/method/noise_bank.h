// Noise rows kept in memory for many small trainings that use the same random streams: episodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <tuple>

#include "annulus/base/matrix.h"
#include "annulus/base/random.h"

namespace annulus {

// Where numbers of noise row `row` of a step start within their stream. Steps of one training never reach the same
// numbers: a step has room for 2^40 of them.
inline std::uint64_t noise_row_start(std::size_t step, std::size_t row, std::size_t dimension) {
  return (std::uint64_t{step} << 40) + row * dimension;
}

// Standard normal rows are a pure function of (stream, step), so keeping them changes no result. In a 5-way episode
// making them costs more than everything else together; episodes with the same seed share them through a bank. Safe for
// concurrent calls; views stay valid as long as the bank.
class NoiseBank {
 public:
  explicit NoiseBank(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // The rows of a step; an empty view when the bank is full, and the caller has to make them itself.
  ConstMatrixView<float> rows(const RandomStream& stream, std::size_t step, std::size_t count, std::size_t dimension);

 private:
  using Key = std::tuple<std::uint64_t, RandomUse, std::uint32_t, std::size_t, std::size_t, std::size_t>;

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::map<Key, Matrix<float>> kept_;
  std::shared_mutex mutex_;
};

}  // namespace annulus
