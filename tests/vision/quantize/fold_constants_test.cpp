// Folded networks compute what the network did.
#include "annulus/vision/quantize/fold_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "annulus/vision/backbone/onnx_session.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

std::size_t count_of(const OnnxNetwork& network, const std::string& kind) {
  return static_cast<std::size_t>(std::count_if(network.nodes.begin(), network.nodes.end(),
                                                [&](const OnnxNode& node) { return node.kind == kind; }));
}

std::vector<float> result_of(std::span<const std::byte> model) {
  const OnnxSession session(model, "model");
  const std::int64_t shape[] = {1, 3, kSmallSide, kSmallSide};
  return session.run(small_inputs(1).row(0), shape, 0).values;
}

class FoldConstants : public NeedsOnnxRuntime {};

TEST_F(FoldConstants, BatchNormBecomesPartOfTheConvolution) {
  const std::string file = small_network();
  OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  fold_constants(network);
  EXPECT_EQ(count_of(network, "BatchNormalization"), 0U);
  EXPECT_EQ(count_of(network, "Conv"), 3U);
  EXPECT_EQ(count_of(network, "Add"), 1U);  // adds no constant
  EXPECT_EQ(network.nodes[2].outputs, std::vector<std::string>{"normed"});
  std::vector<std::byte> folded;
  network.write([&](std::span<const std::byte> part) { folded.insert(folded.end(), part.begin(), part.end()); });
  const std::vector<float> expected = result_of(bytes_in(file));
  const std::vector<float> found = result_of(folded);
  ASSERT_EQ(found.size(), kSmallDimension);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5F);
}

OnnxNode node_of(const std::string& kind, std::vector<std::string> inputs, const std::string& output) {
  OnnxNode node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

TEST(FoldConstantsOf, OnlyAValueThatNobodyElseUses) {
  const std::string file = small_network();
  for (const bool shared : {false, true}) {
    OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
    network.nodes.resize(1);
    network.set_weight(make_floats("shift", {1, 8, 1, 1}, small_values(8, 1, 1.0F)));
    network.nodes.push_back(node_of("Add", {"shift", "first"}, "shifted"));
    if (shared) network.nodes.push_back(node_of("Relu", {"first"}, "other"));
    fold_constants(network);
    EXPECT_EQ(count_of(network, "Add"), shared ? 1U : 0U);
    if (shared) continue;
    const auto bias = float_values(*network.find_weight("shifted/bias"), "");
    ASSERT_TRUE(bias);
    EXPECT_FLOAT_EQ((*bias)[3], small_values(8, 3, 0.1F)[3] + small_values(8, 1, 1.0F)[3]);
  }
}

}  // namespace
}  // namespace annulus
