// Builds an ONNX model node by node and writes it as a stream, with one weight tensor in memory at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "annulus/vision/onnx/onnx_graph.h"

namespace annulus {

struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::vector<std::int64_t>> value;
};

class OnnxModel {
 public:
  using Shape = std::vector<std::int64_t>;
  // Fills a weight tensor, row-major; called once, while the model is written.
  using Fill = std::function<std::vector<float>()>;
  // Takes the next bytes of the file.
  using Sink = std::function<void(std::span<const std::byte>)>;

  // A graph input or output of floats; a length of -1 is the free batch axis.
  void input(const std::string& name, const Shape& shape);
  void output(const std::string& name, const Shape& shape);
  void text_output(const std::string& name, const Shape& shape);  // of strings
  void metadata(const std::string& key, const std::string& value);

  // Constants; each returns its name. weight() reads its values only when the model is written.
  std::string weight(const std::string& name, const Shape& shape, Fill fill);
  std::string floats(const std::string& name, const Shape& shape, std::vector<float> values);
  std::string integers(const std::string& name, std::vector<std::int64_t> values);
  std::string texts(const std::string& name, std::vector<std::string> values);

  // Adds an operator and returns the name of its only output: `name`, or a fresh one when that is empty.
  std::string node(const std::string& operator_name, const std::vector<std::string>& inputs,
                   const std::vector<OnnxAttribute>& attributes = {}, const std::string& name = {});
  // The same for an operator of several outputs, whose names it returns.
  std::vector<std::string> nodes(const std::string& operator_name, const std::vector<std::string>& inputs,
                                 const std::vector<OnnxAttribute>& attributes, std::size_t outputs);
  // Splits x along an axis into equal parts and returns their names.
  std::vector<std::string> split(const std::string& x, std::size_t parts, std::int64_t axis);
  // ReduceL2, ReduceMax, ReduceMean and the like over some axes, which stay as axes of length 1 when `keep` says so.
  std::string reduce(const std::string& operator_name, const std::string& x, const std::vector<std::int64_t>& axes,
                     bool keep);
  // The same as node() for operators of ONNX Runtime's own domain (com.microsoft).
  std::string runtime_node(const std::string& operator_name, const std::vector<std::string>& inputs,
                           const std::vector<OnnxAttribute>& attributes = {});

  // Includes another model's graph after the nodes so far; its inputs are values of those nodes. Later operators use
  // its operator set. The bytes that it refers to must outlive write(). Throws Error{kInput} for a second graph of
  // another operator set than the first, as a file has only one.
  void embed(OnnxGraph graph);

  // Writes the whole model. Throws Error{kInput} if it would exceed the 2 GB limit of ONNX files, and Error{kInternal}
  // if a Fill returns another number of values than its shape has.
  void write(const Sink& sink) const;

 private:
  struct Initializer {
    std::string name;
    Shape shape;
    std::variant<Fill, std::vector<std::int64_t>, std::vector<std::string>> values;
  };
  static std::string header_of(const Initializer& tensor);
  static std::uint64_t content_size(const Initializer& tensor);
  static void write_content(const Initializer& tensor, const Sink& sink);
  std::string model_fields() const;
  void add_node(const std::string& domain, const std::string& operator_name, const std::vector<std::string>& inputs,
                const std::vector<OnnxAttribute>& attributes, const std::vector<std::string>& outputs);
  std::string fresh_name(const std::string& operator_name);

  std::string nodes_;    // GraphProto fields, already encoded
  std::string inputs_;   // the same
  std::string outputs_;  // the same
  std::map<std::string, std::string> metadata_;
  std::vector<Initializer> initializers_;
  std::vector<OnnxGraph> embedded_;
  std::uint64_t ir_version_ = 8;
  std::uint64_t opset_ = 17;
  std::size_t next_name_ = 0;
  bool uses_runtime_domain_ = false;
};

}  // namespace annulus
