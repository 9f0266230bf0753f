// Protocol-buffer messages, field by field: the part of the encoding that ONNX files need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

// Encoders of one field each.
std::string varint(std::uint64_t value);
std::string number_field(std::uint32_t field, std::uint64_t value);
std::string length_field(std::uint32_t field, std::uint64_t length);  // of a field whose bytes follow
std::string bytes_field(std::uint32_t field, std::string_view bytes);
std::string float_field(std::uint32_t field, float value);

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;             // of a varint
  std::span<const std::byte> bytes;    // of a field that has a length
  std::span<const std::byte> encoded;  // all of it: tag, length and content
  bool has_length = false;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// Reads the fields of a message in order, without copying or parsing their content.
class ProtobufReader {
 public:
  // `source` names the file in errors and must outlive the reader.
  ProtobufReader(std::span<const std::byte> message, const std::string& source) : rest_(message), source_(source) {}

  // The next field; empty at the end. Throws Error{kFormat} if the bytes are not a field or end within one.
  std::optional<ProtobufField> next();

 private:
  std::uint64_t read_varint();
  std::span<const std::byte> take(std::uint64_t count);

  std::span<const std::byte> rest_;
  const std::string& source_;
};

}  // namespace annulus
