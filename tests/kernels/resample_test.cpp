// The resizing passes against plain loops, at awkward widths and windows, on every instruction set of this machine.
#include "annulus/kernels/resample.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace annulus {
namespace {

void on_every_instruction_set(const std::function<void()>& body) {
  const std::int64_t all = hwy::SupportedTargets();
  int runs = 0;
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body();
    ++runs;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(runs, 1);
}

// A linear congruential generator: the same cases on every run.
class Numbers {
 public:
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 12345;
};

std::uint8_t reference(std::int64_t sum) {
  const std::int64_t rounded = (sum + (std::int64_t{1} << (kResampleBits - 1))) >> kResampleBits;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(rounded, 0, 255));
}

// Weights that add up to one and overshoot on both sides, as bicubic ones do; their sizes add up to less than two.
std::vector<std::int32_t> make_weights(std::size_t count, Numbers& numbers) {
  const std::int32_t one = 1 << kResampleBits;
  const auto fraction = static_cast<std::uint32_t>(one) / static_cast<std::uint32_t>(count);
  std::vector<std::int32_t> weights(count, 0);
  std::int32_t rest = one;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    weights[i] = static_cast<std::int32_t>(numbers.below(fraction)) - static_cast<std::int32_t>(fraction / 3);
    rest -= weights[i];
  }
  weights.back() = rest;
  return weights;
}

// Bytes that end exactly at the end of the allocation, so that a sanitizer sees a read beyond it.
std::vector<std::uint8_t> make_bytes(std::size_t count, Numbers& numbers) {
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers.below(4) == 0 ? 255 : numbers.below(256));
  return bytes;
}

TEST(ResampleRgbRows, MatchesPlainLoops) {
  on_every_instruction_set([] {
    Numbers numbers;
    for (const std::size_t rows : {1U, 2U, 3U, 4U, 5U, 9U}) {
      for (const std::uint32_t pixels : {1U, 2U, 3U, 5U, 17U, 64U}) {
        ResampleAxis axis;
        for (std::uint32_t i = 0; i < 23; ++i) {
          const std::uint32_t first = numbers.below(pixels);
          const std::uint32_t count = i % 3 == 0 ? pixels - first : 1 + numbers.below(pixels - first);
          const auto weights = make_weights(count, numbers);
          axis.windows.push_back({first, count, axis.weights.size()});
          axis.weights.insert(axis.weights.end(), weights.begin(), weights.end());
        }
        const auto bytes = make_bytes(rows * pixels * 3, numbers);
        const ConstMatrixView<std::uint8_t> in(bytes.data(), rows, std::size_t{3} * pixels);
        std::vector<std::uint8_t> result(rows * 3 * axis.windows.size(), 77);
        const MatrixView<std::uint8_t> out(result.data(), rows, 3 * axis.windows.size());
        resample_rgb_rows(in, axis, out);
        for (std::size_t y = 0; y < rows; ++y) {
          for (std::size_t i = 0; i < axis.windows.size(); ++i) {
            const auto window = axis.windows[i];
            for (std::size_t c = 0; c < 3; ++c) {
              std::int64_t sum = 0;
              for (std::size_t t = 0; t < window.count; ++t) {
                sum += std::int64_t{axis.weights_of(window)[t]} * in(y, 3 * (window.first + t) + c);
              }
              ASSERT_EQ(out(y, 3 * i + c), reference(sum)) << rows << " rows of " << pixels << " pixels, window " << i;
            }
          }
        }
      }
    }
  });
}

TEST(ResampleColumns, MatchesPlainLoops) {
  on_every_instruction_set([] {
    Numbers numbers;
    for (const std::size_t rows : {1U, 2U, 3U, 7U, 40U}) {
      for (const std::size_t cols : {1U, 3U, 15U, 16U, 31U, 33U, 64U, 67U, 672U}) {
        for (const std::size_t gap : {0U, 5U}) {
          const auto bytes = make_bytes(rows * (cols + gap) - gap, numbers);
          const ConstMatrixView<std::uint8_t> in(bytes.data(), rows, cols, cols + gap);
          const auto weights = make_weights(rows, numbers);
          std::vector<std::uint8_t> out(cols, 77);
          resample_columns(in, weights, out);
          for (std::size_t j = 0; j < cols; ++j) {
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < rows; ++i) sum += std::int64_t{weights[i]} * in(i, j);
            ASSERT_EQ(out[j], reference(sum)) << rows << " rows, column " << j << " of " << cols;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace annulus
