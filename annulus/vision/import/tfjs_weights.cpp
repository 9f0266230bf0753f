// Splits TensorFlow.js weight groups into tensors.
#include "annulus/vision/import/tfjs_weights.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using Bytes = std::span<const std::byte>;
using Json = nlohmann::json;

struct Quantisation {
  std::size_t bytes = 0;  // 1, 2, or 0 for none
  float scale = 1;
  float minimum = 0;
};

// The location of one weight: `size` bytes from `offset` of a group of shards.
struct Piece {
  std::size_t first_shard = 0;
  std::size_t end_shard = 0;
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t elements = 0;
  Quantisation quantisation;
};

std::optional<NumberType> number_type(const std::string& name) {
  if (name == "float32") return NumberType::kFloat32;
  if (name == "int32") return NumberType::kInt32;
  if (name == "bool") return NumberType::kBool;
  if (name == "uint8") return NumberType::kUint8;
  return std::nullopt;
}

std::vector<std::byte> gather(const Piece& piece, std::span<const Bytes> shards) {
  std::vector<std::byte> bytes;
  bytes.reserve(piece.size);
  std::size_t skip = piece.offset;
  for (std::size_t i = piece.first_shard; i < piece.end_shard && bytes.size() < piece.size; ++i) {
    const std::size_t start = std::min(skip, shards[i].size());
    const Bytes part = shards[i].subspan(start).first(std::min(shards[i].size() - start, piece.size - bytes.size()));
    bytes.insert(bytes.end(), part.begin(), part.end());
    skip -= start;
  }
  return bytes;
}

std::vector<std::byte> dequantise(const Piece& piece, const std::vector<std::byte>& raw) {
  std::vector<std::byte> out(piece.elements * sizeof(float));
  for (std::size_t i = 0; i < piece.elements; ++i) {
    std::uint32_t level = std::to_integer<std::uint32_t>(raw[i * piece.quantisation.bytes]);
    if (piece.quantisation.bytes == 2) level |= std::to_integer<std::uint32_t>(raw[2 * i + 1]) << 8;
    const float value = static_cast<float>(level) * piece.quantisation.scale + piece.quantisation.minimum;
    std::memcpy(out.data() + i * sizeof(float), &value, sizeof(float));
  }
  return out;
}

Quantisation read_quantisation(const Json& weight, const std::string& name, const std::string& source) {
  Quantisation result;
  if (!weight.contains("quantization")) return result;
  const Json& settings = weight.at("quantization");
  const auto type = settings.at("dtype").get<std::string>();
  if (type != "uint8" && type != "uint16") {
    fail(ErrorKind::kFormat, "{}: expected weight {} to be quantised to uint8 or uint16, found {}", source, name, type);
  }
  result.bytes = type == "uint8" ? 1 : 2;
  result.scale = settings.at("scale").get<float>();
  result.minimum = settings.at("min").get<float>();
  return result;
}

}  // namespace

std::int64_t whole_number(const Json& value) {
  if (!value.is_number_integer()) {
    fail(ErrorKind::kFormat, "expected a whole number in model.json, found a {}", value.type_name());
  }
  return value.get<std::int64_t>();
}

std::vector<std::string> tfjs_shard_names(const Json& manifest, const std::string& source) {
  std::vector<std::string> names;
  for (const Json& group : manifest) {
    for (const Json& path : group.at("paths")) {
      const auto name = path.get<std::string>();
      // Shards lie beside model.json; a name that leaves its folder is rejected.
      if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name == "..") {
        fail(ErrorKind::kFormat, "{}: expected shard names without folders, found \"{}\"", source, name);
      }
      names.push_back(name);
    }
  }
  return names;
}

TensorFile tfjs_weights(const Json& manifest, std::span<const Bytes> shards, std::shared_ptr<const void> owner,
                        const std::string& source) {
  std::map<std::string, StoredTensor> tensors;
  auto pieces = std::make_shared<std::vector<Piece>>();
  std::size_t shard = 0;
  for (const Json& group : manifest) {
    const std::size_t end_shard = shard + group.at("paths").size();
    std::size_t available = 0;
    for (std::size_t i = shard; i < end_shard; ++i) available += shards[i].size();
    std::size_t offset = 0;
    for (const Json& weight : group.at("weights")) {
      const auto name = weight.at("name").get<std::string>();
      StoredTensor tensor;
      for (const Json& length : weight.at("shape")) tensor.shape.push_back(whole_number(length));
      const std::size_t elements = element_count(tensor.shape, source + ", weight " + name);
      const auto type = number_type(weight.at("dtype").get<std::string>());
      if (!type) {
        fail(ErrorKind::kFormat, "{}: weight {} has the unsupported type {}", source, name,
             weight.at("dtype").get<std::string>());
      }
      tensor.type = *type;
      tensor.stride = contiguous_stride(tensor.shape);
      tensor.storage = pieces->size();
      Piece piece{shard, end_shard, offset, 0, elements, read_quantisation(weight, name, source)};
      const std::size_t width = piece.quantisation.bytes > 0 ? piece.quantisation.bytes : number_size(tensor.type);
      if (elements > (available - offset) / width) {
        fail(ErrorKind::kFormat, "{}: expected {} elements of weight {}, found only {} bytes left in its shards",
             source, elements, name, available - offset);
      }
      piece.size = elements * width;
      offset += piece.size;
      pieces->push_back(piece);
      tensors.insert_or_assign(name, std::move(tensor));
    }
    shard = end_shard;
  }
  auto buffer = std::make_shared<std::vector<std::byte>>();
  const std::vector<Bytes> kept(shards.begin(), shards.end());
  return TensorFile(source, std::move(tensors),
                    [pieces, buffer, kept, owner = std::move(owner)](std::size_t storage) -> Bytes {
                      const Piece& piece = (*pieces)[storage];
                      *buffer = gather(piece, kept);
                      if (piece.quantisation.bytes > 0) *buffer = dequantise(piece, *buffer);
                      return *buffer;
                    });
}

}  // namespace annulus
