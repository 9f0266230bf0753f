// The int8 form of a small network beside the network.
#include "annulus/vision/quantize/int8_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "annulus/vision/backbone/onnx_session.h"
#include "annulus/vision/quantize/activation_ranges.h"
#include "annulus/vision/quantize/fold_constants.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

constexpr std::int64_t kShape[] = {1, 3, kSmallSide, kSmallSide};

std::vector<std::byte> int8_form(const std::string& file, int bits) {
  OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  fold_constants(network);
  const Int8Plan plan = plan_int8(network);
  RangeCollector collector(network, plan.ranged);
  const Matrix<float> inputs = small_inputs(8);
  for (std::size_t i = 0; i < inputs.rows(); ++i) collector.add(inputs.row(i), kSmallSide, kSmallSide);
  make_int8(network, plan, collector.ranges(), {bits});
  std::vector<std::byte> bytes;
  network.write([&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  return bytes;
}

class Int8Network : public NeedsOnnxRuntime {};

TEST_F(Int8Network, GivesNearlyTheFeaturesOfTheNetwork) {
  const std::string file = small_network();
  const OnnxSession exact(bytes_in(file), "exact");
  const Matrix<float> inputs = small_inputs(12);
  for (const int bits : {7, 8}) {
    const std::vector<std::byte> bytes = int8_form(file, bits);
    const OnnxSession int8(bytes, "int8");
    double error = 0;
    double size = 0;
    for (std::size_t i = 0; i < inputs.rows(); ++i) {
      const auto wanted = exact.run(inputs.row(i), kShape, 0).values;
      const auto found = int8.run(inputs.row(i), kShape, 0).values;
      ASSERT_EQ(found.size(), kSmallDimension);
      for (std::size_t j = 0; j < found.size(); ++j) {
        error += std::pow(static_cast<double>(wanted[j] - found[j]), 2);
        size += std::pow(static_cast<double>(wanted[j]), 2);
      }
    }
    EXPECT_LT(error / size, 1e-3) << bits;
    EXPECT_GT(error, 0) << bits;  // it is not the float network
  }
}

TEST_F(Int8Network, WeightsAreWholeNumbersForEachChannel) {
  const std::vector<std::byte> bytes = int8_form(small_network(), 7);
  const OnnxNetwork network = OnnxNetwork::read(bytes, "int8");
  EXPECT_EQ(network.find_weight("second_w"), nullptr);
  EXPECT_NE(network.find_weight("first_w"), nullptr);  // the first layer stays in float
  const auto weight = std::find_if(network.nodes.begin(), network.nodes.end(), [](const OnnxNode& node) {
    return node.kind == "DequantizeLinear" && node.inputs.front().find("third") != std::string::npos &&
           node.inputs.front().find("weight") != std::string::npos;
  });
  ASSERT_NE(weight, network.nodes.end());
  EXPECT_EQ(weight->integer("axis", -1), 0);
  EXPECT_EQ(network.find_weight(weight->inputs[0])->type, kOnnxInt8);
  EXPECT_EQ(network.find_weight(weight->inputs[1])->shape, std::vector<std::int64_t>{16});
  // Seven bits: no weight beyond 64, and the largest of a channel is at it.
  const std::span<const std::byte> message = network.find_weight(weight->inputs[0])->message();
  int largest = 0;
  for (const std::byte byte : message.last(16 * 16 * 9)) {
    largest = std::max(largest, std::abs(static_cast<int>(static_cast<std::int8_t>(byte))));
  }
  EXPECT_EQ(largest, 64);
}

TEST(Int8NetworkOf, NeedsAllRanges) {
  const std::string file = small_network();
  OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  const Int8Plan plan = plan_int8(network);
  ActivationRanges ranges;
  for (const std::string& name : plan.ranged) ranges[name] = {0.0F, 1.0F};
  ranges[plan.ranged.front()] = {0.5F, 1.0F};
  OnnxNetwork second = network;
  expect_error(ErrorKind::kInput, "a range around 0", [&] { make_int8(second, plan, ranges, {}); });
  ranges.erase(plan.ranged.front());
  expect_error(ErrorKind::kInput, "expected a range for the value", [&] { make_int8(network, plan, ranges, {}); });
}

}  // namespace
}  // namespace annulus
