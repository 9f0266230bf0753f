// Named tensors of a checkpoint of any format: looked up by name, read one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

enum class NumberType { kFloat64, kFloat32, kFloat16, kBfloat16, kInt64, kInt32, kInt16, kInt8, kUint8, kBool };

std::size_t number_size(NumberType type);
const char* number_name(NumberType type);

// The location of a tensor: an element is at storage[offset + sum(index[i] * stride[i])], counted in elements.
struct StoredTensor {
  NumberType type = NumberType::kFloat32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;
  std::size_t offset = 0;
  std::size_t storage = 0;  // index into the file's storages
};

// "[64, 3, 7, 7]"
std::string dimensions_text(std::span<const std::int64_t> shape);
// The number of elements; throws Error{kFormat} naming `what` when a length is negative or the product overflows.
std::size_t element_count(std::span<const std::int64_t> shape, std::string_view what);
// The stride of a row-major tensor without gaps.
std::vector<std::int64_t> contiguous_stride(std::span<const std::int64_t> shape);

// Tensors by dotted name ("teacher.backbone.norm.weight"). Reading costs one pass over one tensor; nothing is kept.
class TensorFile {
 public:
  // Returns the bytes of a storage. They stay valid until the next call, so that a reader may reuse one buffer.
  using Storages = std::function<std::span<const std::byte>(std::size_t storage)>;

  TensorFile() = default;
  TensorFile(std::string source, std::map<std::string, StoredTensor> tensors, Storages storages);

  const std::string& source() const { return source_; }
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  // nullptr when there is no such name.
  const StoredTensor* find(const std::string& name) const;

  // The elements in row-major order, whatever their strides. Floats of any width become float; whole numbers become
  // int64. Throws Error{kInput} when the name is missing or its type does not fit.
  std::vector<float> read_floats(const std::string& name) const;
  std::vector<std::int64_t> read_integers(const std::string& name) const;

 private:
  const StoredTensor& require(const std::string& name) const;
  // The storage's bytes, after checking that every element of the tensor lies within them; sets their number.
  std::span<const std::byte> checked_bytes(const std::string& name, const StoredTensor& tensor,
                                           std::size_t& count) const;

  std::string source_;
  std::map<std::string, StoredTensor> tensors_;
  Storages storages_;
};

}  // namespace annulus
