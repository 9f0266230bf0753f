// Graphs taken out of ONNX files: every name prefixed, everything else as it was; damaged files rejected.
#include "annulus/vision/onnx/onnx_graph.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "annulus/vision/onnx/onnx_model.h"
#include "annulus/vision/onnx/protobuf.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string node_with(const std::string& attribute) {
  return bytes_field(1, bytes_field(1, "x") + bytes_field(1, "") + bytes_field(2, "y") + bytes_field(3, "n") +
                            bytes_field(4, "If") + attribute);
}

std::string model_of(const std::string& graph) {
  return number_field(1, 7) + bytes_field(8, number_field(2, 13)) + bytes_field(7, graph);
}

TEST(OnnxGraph, PrefixesNamesAndLeavesTheRest) {
  // A graph inside an attribute refers to names of the graph around it.
  const std::string inner = bytes_field(1, bytes_field(1, "y") + bytes_field(2, "z") + bytes_field(4, "Relu"));
  const std::string attribute = bytes_field(5, bytes_field(1, "then_branch") + bytes_field(6, inner));
  const std::string weight = number_field(1, 1) + bytes_field(8, "w") + bytes_field(9, "abcd");
  const std::string graph = node_with(attribute) + bytes_field(5, weight) + bytes_field(11, bytes_field(1, "x")) +
                            bytes_field(11, bytes_field(1, "w")) + bytes_field(12, bytes_field(1, "y")) +
                            bytes_field(13, bytes_field(1, "v") + bytes_field(3, "x is text"));
  const std::string file = model_of(graph);
  const OnnxGraph found = read_onnx_graph(bytes_of(file), "p/", "file");
  EXPECT_EQ(found.ir_version, 7U);
  EXPECT_EQ(found.opsets.at(""), 13U);
  EXPECT_EQ(found.inputs, std::vector<std::string>{"p/x"});  // a weight among the inputs is none
  const std::string renamed_inner =
      bytes_field(1, bytes_field(1, "p/y") + bytes_field(2, "p/z") + bytes_field(4, "Relu"));
  EXPECT_EQ(found.nodes,
            bytes_field(1, bytes_field(1, "p/x") + bytes_field(1, "") + bytes_field(2, "p/y") + bytes_field(3, "p/n") +
                               bytes_field(4, "If") +
                               bytes_field(5, bytes_field(1, "then_branch") + bytes_field(6, renamed_inner))) +
                bytes_field(13, bytes_field(1, "p/v") + bytes_field(3, "x is text")));
  ASSERT_EQ(found.weights.size(), 1U);
  EXPECT_EQ(found.weights[0].name_field, bytes_field(8, "p/w"));
  EXPECT_EQ(text_of(found.weights[0].before) + text_of(found.weights[0].after),
            number_field(1, 1) + bytes_field(9, "abcd"));
}

TEST(OnnxGraph, IsWrittenInsideAnotherModel) {
  OnnxModel first;
  first.input("x", {-1, 2});
  first.node("Mul", {"x", first.floats("w", {2}, {2.0F, 3.0F})}, {}, "y");
  first.output("y", {-1, 2});
  std::string file;
  first.write([&](std::span<const std::byte> part) { file += text_of(part); });

  OnnxModel second;
  second.node("Identity", {"in"}, {}, "p/x");
  second.embed(read_onnx_graph(bytes_of(file), "p/", "file"));
  std::string merged;
  second.write([&](std::span<const std::byte> part) { merged += text_of(part); });
  const OnnxGraph again = read_onnx_graph(bytes_of(merged), "", "merged");
  ASSERT_EQ(again.weights.size(), 1U);
  EXPECT_EQ(again.weights[0].name_field, bytes_field(8, "p/w"));
  EXPECT_NE(again.nodes.find("p/y"), std::string::npos);
}

TEST(OnnxGraph, RejectsWeightsInAnotherFile) {
  const std::string weight = bytes_field(8, "w") + bytes_field(13, bytes_field(1, "location"));
  const std::string file = model_of(node_with("") + bytes_field(5, weight));
  expect_error(ErrorKind::kInput, "in the same file", [&] { read_onnx_graph(bytes_of(file), "p/", "file"); });
}

std::string weight_in(const std::string& place) {
  return bytes_field(8, "w") + bytes_field(13, bytes_field(1, "offset") + bytes_field(2, "0")) +
         bytes_field(13, bytes_field(1, "location") + bytes_field(2, place));
}

TEST(OnnxGraph, WeightsElsewhereAreInTheFolderOfTheNetwork) {
  const auto places = [](const std::string& file) { return external_weights(bytes_of(file), "net.onnx"); };
  EXPECT_TRUE(places(model_of(node_with("") + bytes_field(5, bytes_field(8, "w")))).empty());
  // Everywhere a tensor may be: among the weights, as an attribute, in a graph within one, in a function.
  const std::string inner = bytes_field(5, weight_in("sub/../c.bin"));
  const std::string file =
      model_of(bytes_field(5, weight_in("a.data")) + node_with(bytes_field(5, bytes_field(5, weight_in("b")))) +
               node_with(bytes_field(5, bytes_field(6, inner)))) +
      bytes_field(25, bytes_field(7, bytes_field(5, bytes_field(5, weight_in("d")))));
  EXPECT_EQ(places(file), (std::set<std::string>{"a.data", "b", "sub/../c.bin", "d"}));
  for (const char* place : {"../secret", "/etc/passwd", "a/../../secret", "", "..", "./../x"}) {
    for (const std::string& graph :
         {bytes_field(5, weight_in(place)), node_with(bytes_field(5, bytes_field(5, weight_in(place))))}) {
      expect_error(ErrorKind::kFormat, "net.onnx: expected weights in the folder of the network",
                   [&] { places(model_of(graph)); });
    }
  }
}

TEST(OnnxGraph, RejectsWhatIsDamaged) {
  const std::string file = model_of(node_with("") + bytes_field(5, bytes_field(8, "w") + bytes_field(9, "abcd")));
  std::size_t rejected = 0;
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::string cut = file.substr(0, length);
    try {
      read_onnx_graph(bytes_of(cut), "p/", "file");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat) << error.what();
      ++rejected;
    }
  }
  EXPECT_EQ(rejected, file.size());
  std::string deep = node_with("");
  for (int i = 0; i < 100; ++i) deep = node_with(bytes_field(5, bytes_field(6, deep)));
  expect_error(ErrorKind::kFormat, "nested", [&] { read_onnx_graph(bytes_of(model_of(deep)), "p/", "file"); });
  const std::string endless(11, '\xff');
  expect_error(ErrorKind::kFormat, "ten bytes", [&] { read_onnx_graph(bytes_of(endless), "p/", "file"); });
}

}  // namespace
}  // namespace annulus
