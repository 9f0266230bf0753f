// Encodes and decodes the wire format of protocol buffers.
#include "annulus/vision/onnx/protobuf.h"

#include <bit>
#include <limits>

#include "annulus/base/error.h"

namespace annulus {
namespace {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

}  // namespace

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string number_field(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3 | kVarint) + varint(value);
}

std::string length_field(std::uint32_t field, std::uint64_t length) {
  return varint(field << 3 | kLength) + varint(length);
}

std::string bytes_field(std::uint32_t field, std::string_view bytes) {
  return length_field(field, bytes.size()).append(bytes);
}

std::string float_field(std::uint32_t field, float value) {
  std::string bytes = varint(field << 3 | kFixed32);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}

std::uint64_t ProtobufReader::read_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(take(1).front());
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  fail(ErrorKind::kFormat, "{}: expected a number of a protocol buffer, found one of more than ten bytes", source_);
}

std::span<const std::byte> ProtobufReader::take(std::uint64_t count) {
  if (count > rest_.size()) {
    fail(ErrorKind::kFormat, "{}: expected {} more bytes of a protocol buffer, found {}", source_, count, rest_.size());
  }
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

std::optional<ProtobufField> ProtobufReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto start = rest_;
  ProtobufField field;
  const std::uint64_t tag = read_varint();
  field.number = static_cast<std::uint32_t>(tag >> 3);
  if (tag > std::numeric_limits<std::uint32_t>::max() || field.number == 0) {
    fail(ErrorKind::kFormat, "{}: expected a field of a protocol buffer, found the tag {}", source_, tag);
  }
  switch (tag & 7) {
    case kVarint:
      field.value = read_varint();
      break;
    case kFixed64:
      take(8);
      break;
    case kLength:
      field.bytes = take(read_varint());
      field.has_length = true;
      break;
    case kFixed32:
      take(4);
      break;
    default:
      fail(ErrorKind::kFormat, "{}: expected a field of a protocol buffer, found the wire type {}", source_, tag & 7);
  }
  field.encoded = start.first(start.size() - rest_.size());
  return field;
}

}  // namespace annulus
