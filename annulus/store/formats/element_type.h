// Element types of array files, and their conversion to the types of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

enum class ElementType : std::uint8_t {
  kF64,
  kF32,
  kF16,
  kBf16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
};

std::size_t element_size(ElementType type);
bool is_floating(ElementType type);
// The spelling of safetensors: F64, BF16, BOOL, ...
std::string_view to_string(ElementType type);
std::optional<ElementType> element_type_from(std::string_view name);

// Product of the shape and the size of one element; nothing when it does not fit into 63 bits.
std::optional<std::size_t> array_bytes(std::span<const std::size_t> shape, std::size_t element_bytes);

// out[i] = the nearest float of the i-th little-endian element of `bytes`, which may be unaligned.
void to_floats(ElementType type, std::span<const std::byte> bytes, std::span<float> out);
// The same for integer types and booleans; throws Error{kInput} for a number beyond the signed 64-bit range.
void to_integers(ElementType type, std::span<const std::byte> bytes, std::span<std::int64_t> out,
                 const std::string& where);

}  // namespace annulus
