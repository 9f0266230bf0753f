// The table of element types; conversions copy element by element because file data may be unaligned.
#include "annulus/store/formats/element_type.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <type_traits>

#include "annulus/base/error.h"
#include "annulus/kernels/half.h"

namespace annulus {
namespace {

static_assert(std::endian::native == std::endian::little, "file formats here are little-endian, read by plain copies");

struct TypeRow {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<TypeRow, 13> kTypes = {{{"F64", 8},
                                             {"F32", 4},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"I64", 8},
                                             {"I32", 4},
                                             {"I16", 2},
                                             {"I8", 1},
                                             {"U64", 8},
                                             {"U32", 4},
                                             {"U16", 2},
                                             {"U8", 1},
                                             {"BOOL", 1}}};

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class From, class To>
void convert(std::span<const std::byte> bytes, std::span<To> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(load<From>(bytes.data() + i * sizeof(From)));
}

void widen_unaligned_half(std::span<const std::byte> bytes, std::span<float> out) {
  std::array<std::uint16_t, 512> aligned{};
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), aligned.size());
    std::memcpy(aligned.data(), bytes.data(), count * 2);
    widen_half(std::span(aligned).first(count), out.first(count));
    bytes = bytes.subspan(count * 2);
    out = out.subspan(count);
  }
}

void widen_brain_float(std::span<const std::byte> bytes, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(bytes.data() + i * 2)) << 16U);
  }
}

void convert_unsigned_long(std::span<const std::byte> bytes, std::span<std::int64_t> out, const std::string& where) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto value = load<std::uint64_t>(bytes.data() + i * 8);
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(ErrorKind::kInput, "{}: {} at row {} is too large for a label", where, value, i);
    }
    out[i] = static_cast<std::int64_t>(value);
  }
}

}  // namespace

std::size_t element_size(ElementType type) { return kTypes[static_cast<std::size_t>(type)].size; }

bool is_floating(ElementType type) { return type <= ElementType::kBf16; }

std::string_view to_string(ElementType type) { return kTypes[static_cast<std::size_t>(type)].name; }

std::optional<ElementType> element_type_from(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

std::optional<std::size_t> array_bytes(std::span<const std::size_t> shape, std::size_t element_bytes) {
  constexpr auto kLimit = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  std::size_t product = element_bytes;
  for (const std::size_t extent : shape) {
    if (extent > kLimit) return std::nullopt;
    if (extent != 0 && product > kLimit / extent) return std::nullopt;
    product *= extent;
  }
  return product;
}

void to_floats(ElementType type, std::span<const std::byte> bytes, std::span<float> out) {
  assert(bytes.size() == out.size() * element_size(type));
  switch (type) {
    case ElementType::kF64:
      return convert<double>(bytes, out);
    case ElementType::kF32:
      return convert<float>(bytes, out);
    case ElementType::kF16:
      return widen_unaligned_half(bytes, out);
    case ElementType::kBf16:
      return widen_brain_float(bytes, out);
    case ElementType::kI64:
      return convert<std::int64_t>(bytes, out);
    case ElementType::kI32:
      return convert<std::int32_t>(bytes, out);
    case ElementType::kI16:
      return convert<std::int16_t>(bytes, out);
    case ElementType::kI8:
      return convert<std::int8_t>(bytes, out);
    case ElementType::kU64:
      return convert<std::uint64_t>(bytes, out);
    case ElementType::kU32:
      return convert<std::uint32_t>(bytes, out);
    case ElementType::kU16:
      return convert<std::uint16_t>(bytes, out);
    case ElementType::kU8:
    case ElementType::kBool:
      return convert<std::uint8_t>(bytes, out);
  }
}

void to_integers(ElementType type, std::span<const std::byte> bytes, std::span<std::int64_t> out,
                 const std::string& where) {
  assert(bytes.size() == out.size() * element_size(type));
  switch (type) {
    case ElementType::kI64:
      return convert<std::int64_t>(bytes, out);
    case ElementType::kI32:
      return convert<std::int32_t>(bytes, out);
    case ElementType::kI16:
      return convert<std::int16_t>(bytes, out);
    case ElementType::kI8:
      return convert<std::int8_t>(bytes, out);
    case ElementType::kU64:
      return convert_unsigned_long(bytes, out, where);
    case ElementType::kU32:
      return convert<std::uint32_t>(bytes, out);
    case ElementType::kU16:
      return convert<std::uint16_t>(bytes, out);
    case ElementType::kU8:
    case ElementType::kBool:
      return convert<std::uint8_t>(bytes, out);
    default:
      fail(ErrorKind::kInput, "{}: expected integers, found {}", where, to_string(type));
  }
}

}  // namespace annulus
