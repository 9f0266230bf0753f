// How often values of each size occurred, and the range in which eight bits lose least of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace annulus {

struct ValueRange {
  float low = 0.0F;   // at most 0
  float high = 0.0F;  // at least 0
  bool operator==(const ValueRange&) const = default;
};

// Counts are whole numbers and bins are halves of one another, so that the order in which values and histograms come
// changes nothing.
class ValueHistogram {
 public:
  // False where a value is not finite; it is not counted.
  bool add(std::span<const float> values);
  void merge(const ValueHistogram& other);

  // Of values other than 0, which eight bits hold exactly.
  std::uint64_t count() const { return count_; }
  // The range whose 256 steps give the least mean squared error: a narrower one has finer steps, and moves the values
  // beyond it to its ends.
  ValueRange best_range() const;

 private:
  static constexpr std::size_t kBins = 2048;  // on either side of 0
  using Counts = std::array<std::uint64_t, kBins>;

  void widen(int exponent);
  static void halve(Counts& counts);

  int exponent_ = -40;  // bins end at 2^exponent
  std::uint64_t count_ = 0;
  float low_ = 0.0F;
  float high_ = 0.0F;
  Counts below_{};
  Counts above_{};
};

}  // namespace annulus
