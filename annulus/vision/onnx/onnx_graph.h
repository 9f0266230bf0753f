// The graph of an ONNX file, extracted so that another model can include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace annulus {

struct OnnxGraph {
  // A weight is written as its first field and the two parts of its message around its old name.
  struct Weight {
    std::string name_field;
    std::span<const std::byte> before;
    std::span<const std::byte> after;
    std::size_t size() const { return name_field.size() + before.size() + after.size(); }
  };

  std::uint64_t ir_version = 0;
  std::map<std::string, std::uint64_t> opsets;  // by domain; "" is ONNX's own
  std::string nodes;                            // and shapes of values: GraphProto fields, encoded
  std::string functions;                        // ModelProto fields, encoded
  std::vector<Weight> weights;                  // views of the file's bytes
  std::vector<std::string> inputs;              // names that are not weights, prefixed
};

// Every name of a value or an operator gets `prefix`, in nested graphs too, so that none collides with a name of the
// model around it. `source` names the file in errors. Only small parts are copied: `file` must outlive the result.
// Throws Error{kFormat} for a file that is not an ONNX model, Error{kInput} for one whose weights are in another file.
OnnxGraph read_onnx_graph(std::span<const std::byte> file, const std::string& prefix, const std::string& source);

// Where the weights of an ONNX file lie that are not in it, relative to its folder; each place once. Throws
// Error{kFormat} for a file that is not an ONNX model, and for a place outside the folder: a network must not be able
// to read other files.
std::set<std::string> external_weights(std::span<const std::byte> file, const std::string& source);

}  // namespace annulus
