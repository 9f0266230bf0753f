// Tensors of an inference request; their fields may come in any order.
#include "server/predict/infer_body.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "server/http/image_text.h"
#include "server/predict/json_rows.h"

namespace annulus::server {
namespace {

namespace ondemand = simdjson::ondemand;

struct Tensor {
  std::string name;
  std::string type;
  std::vector<std::size_t> shape;
  std::vector<float> numbers;
  std::vector<std::string> texts;
  std::optional<std::size_t> binary_bytes;
};

void read_data(ondemand::array array, Tensor& tensor) {
  for (ondemand::value entry : array) {
    if (entry.type() == ondemand::json_type::string) {
      tensor.texts.emplace_back(std::string_view(entry.get_string()));
    } else if (entry.type() == ondemand::json_type::array) {
      read_numbers(entry.get_array(), tensor.numbers, 2);
    } else {
      const auto number = static_cast<float>(double(entry.get_double()));
      if (!std::isfinite(number)) fail(ErrorKind::kInput, "expected numbers within the range of float32");
      tensor.numbers.push_back(number);
    }
  }
}

Tensor read_tensor(ondemand::object object) {
  Tensor tensor;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    ondemand::value value = field.value();
    if (key == "name") {
      tensor.name = std::string(std::string_view(value.get_string()));
    } else if (key == "datatype") {
      tensor.type = std::string(std::string_view(value.get_string()));
    } else if (key == "shape") {
      for (ondemand::value side : value.get_array()) {
        if (tensor.shape.size() == 8) fail(ErrorKind::kInput, "expected a shape of at most 8 sides");
        tensor.shape.push_back(static_cast<std::size_t>(std::uint64_t(side.get_uint64())));
      }
    } else if (key == "data") {
      read_data(value.get_array(), tensor);
    } else if (key == "parameters") {
      for (auto parameter : value.get_object()) {
        if (std::string_view(parameter.unescaped_key()) == "binary_data_size") {
          tensor.binary_bytes = static_cast<std::size_t>(std::uint64_t(parameter.value().get_uint64()));
        }
      }
    }
  }
  return tensor;
}

void take_binary(std::string_view bytes, Tensor& tensor) {
  if (tensor.type == "FP32") {
    if (bytes.size() % sizeof(float) != 0) fail(ErrorKind::kInput, "expected whole FP32 numbers of 4 bytes");
    tensor.numbers.resize(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(tensor.numbers.data(), bytes.data(), bytes.size());
    const bool finite =
        std::all_of(tensor.numbers.begin(), tensor.numbers.end(), [](float x) { return std::isfinite(x); });
    if (!finite) fail(ErrorKind::kInput, "expected numbers that are finite");
    return;
  }
  while (!bytes.empty()) {
    std::uint32_t size = 0;
    if (bytes.size() < sizeof(size)) fail(ErrorKind::kInput, "expected BYTES with their length in 4 bytes before them");
    std::memcpy(&size, bytes.data(), sizeof(size));
    bytes.remove_prefix(sizeof(size));
    if (bytes.size() < size) fail(ErrorKind::kInput, "expected {} BYTES, found {}", size, bytes.size());
    tensor.texts.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
}

void use_rows(Tensor& tensor, const BodyLimits& limits, InferAsk& ask) {
  if (tensor.type != "FP32" || tensor.shape.size() != 2 || tensor.shape[0] == 0 || tensor.shape[1] == 0) {
    fail(ErrorKind::kInput, "X: expected datatype FP32 and a shape of rows and numbers a row");
  }
  const auto [rows, cols] = std::pair(tensor.shape[0], tensor.shape[1]);
  if (rows > limits.max_rows) fail(ErrorKind::kInput, "X: expected at most {} rows in one request", limits.max_rows);
  if (cols > tensor.numbers.size() || rows * cols != tensor.numbers.size()) {
    fail(ErrorKind::kInput, "X: expected {} x {} numbers, as its shape says, found {}", rows, cols,
         tensor.numbers.size());
  }
  ask.rows = Matrix<float>(rows, cols);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(tensor.numbers.begin() + static_cast<std::ptrdiff_t>(i * cols), cols, ask.rows.row(i).begin());
  }
}

void use_images(Tensor& tensor, const BodyLimits& limits, InferAsk& ask) {
  std::size_t count = 1;
  for (const std::size_t side : tensor.shape) count = side > limits.max_images ? limits.max_images + 1 : count * side;
  if (tensor.type != "BYTES" || tensor.shape.empty() || tensor.shape.size() > 2 || count == 0) {
    fail(ErrorKind::kInput, "image: expected datatype BYTES and a shape of as many as there are images");
  }
  if (count > limits.max_images) {
    fail(ErrorKind::kInput, "image: expected at most {} images in one request", limits.max_images);
  }
  if (count != tensor.texts.size()) {
    fail(ErrorKind::kInput, "image: expected {} images, as its shape says, found {}", count, tensor.texts.size());
  }
  for (std::string& text : tensor.texts) {
    ask.images.push_back(tensor.binary_bytes ? std::move(text) : image_bytes_of_text(text));
  }
}

void read_parameters(ondemand::object object, InferAsk& ask) {
  for (auto field : object) {
    if (std::string_view(field.unescaped_key()) == "false_reject") {
      const double fraction = field.value().get_double();
      if (!(fraction >= 0.0 && fraction < 1.0)) {
        fail_field(ErrorKind::kInput, "false_reject", "expected {} to be a rate from 0 to less than 1, found {}",
                   fraction);
      }
      ask.options.false_reject = fraction;
    }
  }
}

std::vector<Tensor> read_request(std::string_view json, std::size_t capacity, InferAsk& ask) {
  ondemand::parser parser;
  std::vector<Tensor> inputs;
  ondemand::document document = parser.iterate(simdjson::padded_string_view(json, capacity));
  for (auto field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    ondemand::value value = field.value();
    if (key == "id") {
      ask.id = std::string(std::string_view(value.get_string()));
    } else if (key == "inputs") {
      for (ondemand::object input : value.get_array()) {
        if (inputs.size() == 8) fail(ErrorKind::kInput, "expected one input, X or image");
        inputs.push_back(read_tensor(input));
      }
    } else if (key == "outputs") {
      for (ondemand::object output : value.get_array()) {
        if (ask.outputs.size() == 8) fail(ErrorKind::kInput, "expected at most 8 outputs");
        ask.outputs.emplace_back(std::string_view(output["name"].get_string()));
      }
    } else if (key == "parameters") {
      read_parameters(value.get_object(), ask);
    }
  }
  expect_end(document);
  return inputs;
}

}  // namespace

InferAsk parse_infer(std::string& body, std::size_t json_bytes, const BodyLimits& limits) {
  if (json_bytes > body.size()) fail(ErrorKind::kFormat, "expected {} bytes of JSON, found fewer", json_bytes);
  InferAsk ask;
  std::vector<Tensor> inputs;
  try {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    inputs = read_request(std::string_view(body).substr(0, json_bytes), body.capacity(), ask);
  } catch (const simdjson::simdjson_error& error) {
    fail(ErrorKind::kFormat, "expected a JSON object with inputs: {}", error.what());
  }
  std::string_view binary = std::string_view(body).substr(json_bytes);
  for (Tensor& input : inputs) {
    if (!input.binary_bytes) continue;
    if (*input.binary_bytes > binary.size()) fail(ErrorKind::kFormat, "expected more binary data than there is");
    take_binary(binary.substr(0, *input.binary_bytes), input);
    binary.remove_prefix(*input.binary_bytes);
  }
  if (inputs.size() != 1) fail(ErrorKind::kInput, "expected one input, X or image, found {}", inputs.size());
  if (inputs.front().name == "X") {
    use_rows(inputs.front(), limits, ask);
  } else if (inputs.front().name == "image") {
    use_images(inputs.front(), limits, ask);
  } else {
    fail(ErrorKind::kInput, "expected an input named X or image, found \"{}\"", inputs.front().name);
  }
  return ask;
}

}  // namespace annulus::server
