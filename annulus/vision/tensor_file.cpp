// Reads strided tensors of any element type into plain vectors.
#include "annulus/vision/tensor_file.h"

#include <bit>
#include <cstring>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/half.h"

namespace annulus {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

bool is_floating(NumberType type) {
  return type == NumberType::kFloat64 || type == NumberType::kFloat32 || type == NumberType::kFloat16 ||
         type == NumberType::kBfloat16;
}

float load_float(NumberType type, const std::byte* at) {
  switch (type) {
    case NumberType::kFloat64:
      return static_cast<float>(load<double>(at));
    case NumberType::kFloat16: {
      const std::uint16_t half = load<std::uint16_t>(at);
      float value = 0;
      widen_half({&half, 1}, {&value, 1});
      return value;
    }
    case NumberType::kBfloat16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(at)) << 16);
    default:
      return load<float>(at);
  }
}

std::int64_t load_integer(NumberType type, const std::byte* at) {
  switch (type) {
    case NumberType::kInt64:
      return load<std::int64_t>(at);
    case NumberType::kInt32:
      return load<std::int32_t>(at);
    case NumberType::kInt16:
      return load<std::int16_t>(at);
    case NumberType::kInt8:
      return load<std::int8_t>(at);
    default:
      return load<std::uint8_t>(at);
  }
}

}  // namespace

std::size_t number_size(NumberType type) {
  switch (type) {
    case NumberType::kFloat64:
    case NumberType::kInt64:
      return 8;
    case NumberType::kFloat32:
    case NumberType::kInt32:
      return 4;
    case NumberType::kFloat16:
    case NumberType::kBfloat16:
    case NumberType::kInt16:
      return 2;
    default:
      return 1;
  }
}

const char* number_name(NumberType type) {
  constexpr const char* kNames[] = {"float64", "float32", "float16", "bfloat16", "int64",
                                    "int32",   "int16",   "int8",    "uint8",    "bool"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t length : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(length);
  return text + "]";
}

std::size_t element_count(std::span<const std::int64_t> shape, std::string_view what) {
  std::size_t count = 1;
  for (const std::int64_t length : shape) {
    if (length < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(length), &count)) {
      fail(ErrorKind::kFormat, "{}: the shape {} is negative or too large", what, shape_text(shape));
    }
  }
  return count;
}

std::vector<std::int64_t> contiguous_stride(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  return stride;
}

TensorFile::TensorFile(std::string source, std::map<std::string, StoredTensor> tensors, Storages storages)
    : source_(std::move(source)), tensors_(std::move(tensors)), storages_(std::move(storages)) {}

const StoredTensor* TensorFile::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const StoredTensor& TensorFile::require(const std::string& name) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) {
    fail(ErrorKind::kInput, "{}: expected a tensor named {}, found none among its {} tensors", source_, name,
         tensors_.size());
  }
  return *tensor;
}

template <class T, class Convert>
std::vector<T> TensorFile::gather(const std::string& name, const StoredTensor& tensor, const Convert& convert) const {
  const std::span<const std::byte> bytes = storages_(tensor.storage);
  const std::size_t size = number_size(tensor.type);
  const std::size_t available = bytes.size() / size;
  const std::size_t count = element_count(tensor.shape, source_ + ", tensor " + name);
  // A tensor never shows more elements than its storage holds, so a small file cannot ask for a large vector.
  if (count > available) {
    fail(ErrorKind::kFormat, "{}: tensor {} has {} elements but its storage holds {}", source_, name, count, available);
  }
  std::vector<T> values(count);
  std::vector<std::int64_t> index(tensor.shape.size(), 0);
  std::size_t at = tensor.offset;
  for (std::size_t i = 0; i < count; ++i) {
    if (at >= available) {
      fail(ErrorKind::kFormat, "{}: tensor {} reaches element {} of a storage of {}", source_, name, at, available);
    }
    values[i] = convert(tensor.type, bytes.data() + at * size);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += static_cast<std::size_t>(tensor.stride[axis]);
      if (++index[axis] < tensor.shape[axis]) break;
      at -= static_cast<std::size_t>(tensor.stride[axis]) * static_cast<std::size_t>(tensor.shape[axis]);
      index[axis] = 0;
    }
  }
  return values;
}

std::vector<float> TensorFile::read_floats(const std::string& name) const {
  const StoredTensor& tensor = require(name);
  if (!is_floating(tensor.type)) {
    fail(ErrorKind::kInput, "{}: expected tensor {} to hold floating-point numbers, found {}", source_, name,
         number_name(tensor.type));
  }
  return gather<float>(name, tensor, load_float);
}

std::vector<std::int64_t> TensorFile::read_integers(const std::string& name) const {
  const StoredTensor& tensor = require(name);
  if (is_floating(tensor.type)) {
    fail(ErrorKind::kInput, "{}: expected tensor {} to hold whole numbers, found {}", source_, name,
         number_name(tensor.type));
  }
  return gather<std::int64_t>(name, tensor, load_integer);
}

}  // namespace annulus
