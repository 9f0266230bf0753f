// Detects checkpoint formats and gives them one interface.
#include "annulus/store/models/weights_file.h"

#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/formats/safetensors.h"

namespace annulus {
namespace {

std::optional<NumberType> number_type(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return NumberType::kFloat64;
    case ElementType::kF32:
      return NumberType::kFloat32;
    case ElementType::kF16:
      return NumberType::kFloat16;
    case ElementType::kBf16:
      return NumberType::kBfloat16;
    case ElementType::kI64:
      return NumberType::kInt64;
    case ElementType::kI32:
      return NumberType::kInt32;
    case ElementType::kI16:
      return NumberType::kInt16;
    case ElementType::kI8:
      return NumberType::kInt8;
    case ElementType::kU8:
      return NumberType::kUint8;
    case ElementType::kBool:
      return NumberType::kBool;
    default:
      return std::nullopt;
  }
}

// A safetensors file begins with the length of its JSON header.
bool looks_like_safetensors(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof(length) + 2) return false;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return length <= bytes.size() - sizeof(length) && std::to_integer<char>(bytes[sizeof(length)]) == '{';
}

TensorFile read_safetensors(const FileBytes& file) {
  const Safetensors reader(file);
  std::map<std::string, StoredTensor> tensors;
  std::vector<std::span<const std::byte>> storages;
  for (const auto& [name, tensor] : reader.tensors()) {
    const auto type = number_type(tensor.type);
    if (!type) continue;
    StoredTensor stored;
    stored.type = *type;
    stored.shape.assign(tensor.shape.begin(), tensor.shape.end());
    stored.stride = contiguous_stride(stored.shape);
    stored.storage = storages.size();
    storages.push_back(tensor.bytes);
    tensors.emplace(name, std::move(stored));
  }
  return TensorFile(
      file.source, std::move(tensors),
      [storages = std::move(storages), owner = file.owner](std::size_t index) { return storages[index]; });
}

}  // namespace

TensorFile read_checkpoint(const FileBytes& file, const TorchReadOptions& options) {
  if (looks_like_torch_file(file.bytes)) return read_torch_file(file.bytes, file.owner, file.source, options);
  if (looks_like_safetensors(file.bytes)) return read_safetensors(file);
  fail(ErrorKind::kFormat, "{}: expected a PyTorch checkpoint or a safetensors file, found neither", file.source);
}

TensorFile open_checkpoint(const std::filesystem::path& path, const TorchReadOptions& options) {
  return read_checkpoint(map_file(path), options);
}

}  // namespace annulus
