// Every confidence falls into one of fifteen bins of equal width; the error is how far they are from their accuracy.
#include "annulus/learn/calibration/confidence_bins.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

using Bins = std::array<ConfidenceBin, kConfidenceBins>;

// The bin that a single example falls into.
std::size_t bin_of(double confidence) {
  Bins bins{};
  add_confidence(bins, confidence, true);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].count == 1) return i;
  }
  return bins.size();
}

TEST(ConfidenceBins, AreFifteenthsOfOne) {
  for (std::size_t bin = 0; bin < kConfidenceBins; ++bin) {
    EXPECT_EQ(bin_of((static_cast<double>(bin) + 0.5) / 15.0), bin);
  }
  EXPECT_EQ(bin_of(0.0), 0U);
  EXPECT_EQ(bin_of(1.0), 14U);
  EXPECT_EQ(bin_of(-1e-9), 0U);
  EXPECT_EQ(bin_of(1.0 + 1e-6), 14U);
}

TEST(ConfidenceBins, TheErrorIsTheMeanGapOfConfidenceAndAccuracy) {
  Bins bins{};
  EXPECT_EQ(expected_calibration_error(bins), 0.0);
  add_confidence(bins, 0.95, true);
  add_confidence(bins, 0.95, false);  // gap of this bin: |1.9 - 1| = 0.9
  add_confidence(bins, 0.5, true);    // gap: 0.5
  add_confidence(bins, 0.5, false);   // together |1 - 1| = 0
  EXPECT_NEAR(expected_calibration_error(bins), 100.0 * 0.9 / 4.0, 1e-12);
}

}  // namespace
}  // namespace annulus
