// Reads strided tensors of any element type into plain vectors.
#include "annulus/vision/import/tensor_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/half.h"

namespace annulus {
namespace {

bool is_floating(NumberType type) {
  return type == NumberType::kFloat64 || type == NumberType::kFloat32 || type == NumberType::kFloat16 ||
         type == NumberType::kBfloat16;
}

float widened(std::uint16_t half) {
  float value = 0;
  widen_half({&half, 1}, {&value, 1});
  return value;
}
float widened_bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// The tensor's elements in row-major order. The caller has checked that all of them lie within `bytes`.
template <class Stored, class Convert>
auto gather(std::span<const std::byte> bytes, const StoredTensor& tensor, std::size_t count, const Convert& convert) {
  std::vector<decltype(convert(Stored{}))> values(count);
  const auto at = [&](std::size_t element) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + element * sizeof(Stored), sizeof(Stored));
    return convert(stored);
  };
  if (tensor.stride == contiguous_stride(tensor.shape)) {
    for (std::size_t i = 0; i < count; ++i) values[i] = at(tensor.offset + i);
    return values;
  }
  std::vector<std::int64_t> index(tensor.shape.size(), 0);
  std::size_t element = tensor.offset;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = at(element);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      element += static_cast<std::size_t>(tensor.stride[axis]);
      if (++index[axis] < tensor.shape[axis]) break;
      element -= static_cast<std::size_t>(tensor.stride[axis]) * static_cast<std::size_t>(tensor.shape[axis]);
      index[axis] = 0;
    }
  }
  return values;
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

std::string dimensions_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t length : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(length);
  return text + "]";
}

std::size_t element_count(std::span<const std::int64_t> shape, std::string_view what) {
  std::size_t count = 1;
  std::int64_t without_zeros = 1;  // strides are products of the other lengths, which must fit even beside a zero
  for (const std::int64_t length : shape) {
    if (length < 0 || __builtin_mul_overflow(without_zeros, std::max<std::int64_t>(length, 1), &without_zeros)) {
      fail(ErrorKind::kFormat, "{}: the shape {} is negative or too large", what, dimensions_text(shape));
    }
    count *= static_cast<std::size_t>(length);
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

std::span<const std::byte> TensorFile::checked_bytes(const std::string& name, const StoredTensor& tensor,
                                                     std::size_t& count) const {
  count = element_count(tensor.shape, source_ + ", tensor " + name);
  const std::span<const std::byte> bytes = storages_(tensor.storage);
  const std::size_t available = bytes.size() / number_size(tensor.type);
  // A tensor never shows more elements than its storage holds, so a small file cannot ask for a large vector.
  if (count > available) {
    fail(ErrorKind::kFormat, "{}: tensor {} has {} elements but its storage holds {}", source_, name, count, available);
  }
  std::size_t end = count == 0 ? 0 : tensor.offset;
  for (std::size_t axis = 0; axis < tensor.shape.size() && count > 0; ++axis) {
    std::size_t reach = 0;
    if (tensor.stride[axis] < 0 ||
        __builtin_mul_overflow(static_cast<std::size_t>(tensor.shape[axis] - 1),
                               static_cast<std::size_t>(tensor.stride[axis]), &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      fail(ErrorKind::kFormat, "{}: the strides of tensor {} make no sense", source_, name);
    }
  }
  if (count > 0 && end >= available) {
    fail(ErrorKind::kFormat, "{}: tensor {} reaches element {} of a storage of {}", source_, name, end, available);
  }
  return bytes;
}

std::vector<float> TensorFile::read_floats(const std::string& name) const {
  const StoredTensor& tensor = require(name);
  if (!is_floating(tensor.type)) {
    fail(ErrorKind::kInput, "{}: expected tensor {} to hold floating-point numbers, found {}", source_, name,
         number_name(tensor.type));
  }
  std::size_t count = 0;
  const auto bytes = checked_bytes(name, tensor, count);
  switch (tensor.type) {
    case NumberType::kFloat64:
      return gather<double>(bytes, tensor, count, [](double value) { return static_cast<float>(value); });
    case NumberType::kFloat16:
      return gather<std::uint16_t>(bytes, tensor, count, widened);
    case NumberType::kBfloat16:
      return gather<std::uint16_t>(bytes, tensor, count, widened_bfloat);
    default:
      return gather<float>(bytes, tensor, count, [](float value) { return value; });
  }
}

std::vector<std::int64_t> TensorFile::read_integers(const std::string& name) const {
  const StoredTensor& tensor = require(name);
  if (is_floating(tensor.type)) {
    fail(ErrorKind::kInput, "{}: expected tensor {} to hold whole numbers, found {}", source_, name,
         number_name(tensor.type));
  }
  std::size_t count = 0;
  const auto bytes = checked_bytes(name, tensor, count);
  const auto widen = [](auto value) { return static_cast<std::int64_t>(value); };
  switch (tensor.type) {
    case NumberType::kInt64:
      return gather<std::int64_t>(bytes, tensor, count, widen);
    case NumberType::kInt32:
      return gather<std::int32_t>(bytes, tensor, count, widen);
    case NumberType::kInt16:
      return gather<std::int16_t>(bytes, tensor, count, widen);
    case NumberType::kInt8:
      return gather<std::int8_t>(bytes, tensor, count, widen);
    default:
      return gather<std::uint8_t>(bytes, tensor, count, widen);
  }
}

}  // namespace annulus
