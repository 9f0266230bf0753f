// Ranges are the same in any order and on any number of threads, and survive being text.
#include "annulus/vision/quantize/activation_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "annulus/base/parallel.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

class RangesOf : public NeedsOnnxRuntime {};

TEST_F(RangesOf, ThreadsAndOrderChangeNothing) {
  const std::string file = small_network();
  const OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  const Matrix<float> inputs = small_inputs(24);
  const std::vector<std::string> values = {"first_end", "sum", "features"};
  RangeCollector one(network, values);
  for (std::size_t i = inputs.rows(); i-- > 0;) one.add(inputs.row(i), kSmallSide, kSmallSide);
  RangeCollector many(network, values);
  parallel_for(4, inputs.rows(), [&](std::size_t i) { many.add(inputs.row(i), kSmallSide, kSmallSide); });
  EXPECT_EQ(one.ranges(), many.ranges());
  EXPECT_EQ(one.ranges().at("first_end").low, 0.0F);
  EXPECT_GT(one.ranges().at("first_end").high, 0.0F);
  EXPECT_LT(one.ranges().at("sum").low, 0.0F);
}

TEST_F(RangesOf, ValuesThatAreNotThereAreTold) {
  const std::string file = small_network();
  const OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  EXPECT_THROW(RangeCollector(network, {"nothing"}), Error);
}

TEST(RangesText, IsReadAsItWasWritten) {
  const ActivationRanges ranges = {{"a name with spaces", {-1.0F / 3.0F, 1e-7F}}, {"b", {0.0F, 3e8F}}};
  EXPECT_EQ(ranges_from_text(ranges_to_text(ranges), "t"), ranges);
  EXPECT_TRUE(ranges_from_text("", "t").empty());
}

TEST(RangesText, HostileTextGivesASentence) {
  for (const char* text : {"1", "1 2", "1 2 ", "a 2 x", "1 b x", "nan 1 x", "-1 inf x", " 0 1 x", "\n", "1  2 x"}) {
    expect_error(ErrorKind::kFormat, "expected a range as LOW HIGH NAME", [&] { ranges_from_text(text, "t"); });
  }
}

}  // namespace
}  // namespace annulus
