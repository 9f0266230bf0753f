// A model taken apart and written again is the same model; what cannot be changed safely is rejected in words.
#include "annulus/vision/onnx/onnx_network.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/vision/onnx/protobuf.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

std::string written(const OnnxNetwork& network, std::span<const std::string> extra = {}) {
  std::string bytes;
  network.write(
      [&](std::span<const std::byte> part) { bytes.append(reinterpret_cast<const char*>(part.data()), part.size()); },
      extra);
  return bytes;
}

std::string model_of(const std::string& graph) {
  return number_field(1, 8) + bytes_field(8, number_field(2, 17)) + bytes_field(7, graph);
}

std::string node_of(const std::string& kind, const std::string& attribute = {}) {
  return bytes_field(1, bytes_field(1, "x") + bytes_field(2, "y") + bytes_field(4, kind) + attribute);
}

TEST(OnnxNetwork, ReadsNodesWeightsAndAttributes) {
  const std::string file = small_network();
  const OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  EXPECT_EQ(network.inputs, std::vector<std::string>{"pixel_values"});
  EXPECT_EQ(network.outputs, std::vector<std::string>{"features"});
  EXPECT_EQ(network.opsets.at(""), 17U);
  ASSERT_EQ(network.nodes.size(), 11U);
  EXPECT_EQ(network.nodes.back().kind, "Gemm");
  EXPECT_EQ(network.nodes.back().integer("transB", 0), 1);
  EXPECT_EQ(network.nodes.back().integer("transA", 7), 7);
  EXPECT_EQ(network.nodes[3].kind, "BatchNormalization");
  EXPECT_FLOAT_EQ(network.nodes[3].real("epsilon", 0.0F), 1e-3F);
  const OnnxTensor* const weight = network.find_weight("head_w");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape, (std::vector<std::int64_t>{12, 16}));
  EXPECT_EQ(float_values(*weight, "small"), small_values(kSmallDimension * 16, 9, 0.5F));
  EXPECT_EQ(network.find_weight("nothing"), nullptr);
}

TEST(OnnxNetwork, WritesWhatItRead) {
  const std::string file = small_network();
  OnnxNetwork network = OnnxNetwork::read(bytes_in(file), "small");
  network.set_weight(make_floats("unused", {2}, std::vector<float>{1.0F, 2.0F}));
  network.metadata.emplace_back("key", "value");
  const std::vector<std::string> extra = {"second_end"};
  const std::string again = written(network, extra);
  EXPECT_EQ(again.find("unused"), std::string::npos);
  EXPECT_NE(again.find("annulus.preprocess"), std::string::npos);
  EXPECT_NE(again.find("value"), std::string::npos);
  const OnnxNetwork read = OnnxNetwork::read(bytes_in(again), "again");
  EXPECT_EQ(read.outputs, (std::vector<std::string>{"features", "second_end"}));
  EXPECT_EQ(read.nodes.size(), network.nodes.size());
  EXPECT_EQ(float_values(*read.find_weight("gamma"), ""), small_values(16, 1, 1.5F));
}

TEST(OnnxNetwork, WeightsAmongTheInputsAreNoInputs) {
  const std::string weight = number_field(1, 1) + number_field(2, 1) + bytes_field(8, "w") + bytes_field(9, "abcd");
  const std::string file = model_of(node_of("Relu") + bytes_field(5, weight) + bytes_field(11, bytes_field(1, "x")) +
                                    bytes_field(11, bytes_field(1, "w")));
  EXPECT_EQ(OnnxNetwork::read(bytes_in(file), "f").inputs, std::vector<std::string>{"x"});
}

TEST(OnnxNetwork, RejectsWhatItCannotChange) {
  const auto read = [](const std::string& file) { return [file] { OnnxNetwork::read(bytes_in(file), "f"); }; };
  const std::string branch = bytes_field(5, bytes_field(1, "then_branch") + bytes_field(6, node_of("Relu")));
  expect_error(ErrorKind::kInput, "without conditions and loops, found a If", read(model_of(node_of("If", branch))));
  const std::string elsewhere = bytes_field(8, "w") + bytes_field(13, bytes_field(1, "location"));
  expect_error(ErrorKind::kInput, "in the same file", read(model_of(node_of("Relu") + bytes_field(5, elsewhere))));
  expect_error(ErrorKind::kFormat, "found no graph", read(number_field(1, 8)));
  expect_error(ErrorKind::kFormat, "found no operators", read(model_of("")));
  expect_error(ErrorKind::kFormat, "found several", read(model_of(node_of("Relu")) + model_of(node_of("Relu"))));
}

TEST(OnnxNetwork, TruncatedAndHostileFilesGiveASentence) {
  const std::string file = small_network();
  for (std::size_t size = 0; size + 1 < file.size(); size += 97) {
    const std::string part = file.substr(0, size);
    EXPECT_THROW(OnnxNetwork::read(bytes_in(part), "part"), Error) << size;
  }
  // A shape whose product overflows, and one that its content does not fill, have no values.
  const std::string large = number_field(1, std::uint64_t{1} << 31) + number_field(1, std::uint64_t{1} << 31) +
                            number_field(2, 1) + bytes_field(8, "w") + bytes_field(9, "abcd");
  const std::string hostile = model_of(node_of("Relu") + bytes_field(5, large));
  const OnnxNetwork network = OnnxNetwork::read(bytes_in(hostile), "f");
  EXPECT_FALSE(float_values(*network.find_weight("w"), "f"));
}

}  // namespace
}  // namespace annulus
