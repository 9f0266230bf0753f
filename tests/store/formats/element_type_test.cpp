// Number types of array files and their conversion.
#include "annulus/store/formats/element_type.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<float> floats_of(ElementType type, const std::vector<T>& values) {
  std::vector<float> out(values.size());
  to_floats(type, bytes_of(values), out);
  return out;
}

TEST(ElementType, NamesComeBack) {
  for (const char* name : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}) {
    const auto type = element_type_from(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(to_string(*type), name);
    EXPECT_GE(element_size(*type), 1U);
  }
  EXPECT_FALSE(element_type_from("F8"));
}

TEST(ElementType, FloatsOfEveryWidth) {
  EXPECT_EQ(floats_of<double>(ElementType::kF64, {1.5, -2.0}), (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(floats_of<std::uint16_t>(ElementType::kF16, {0x3C00, 0xC000}), (std::vector<float>{1.0F, -2.0F}));
  EXPECT_EQ(floats_of<std::uint16_t>(ElementType::kBf16, {0x3F80, 0xC000}), (std::vector<float>{1.0F, -2.0F}));
  EXPECT_EQ(floats_of<std::int8_t>(ElementType::kI8, {-1, 7}), (std::vector<float>{-1.0F, 7.0F}));
  EXPECT_EQ(floats_of<std::uint8_t>(ElementType::kBool, {0, 1}), (std::vector<float>{0.0F, 1.0F}));
}

TEST(ElementType, IntegersBeyondTheSignedRangeAreNamed) {
  std::vector<std::int64_t> out(1);
  to_integers(ElementType::kU32, bytes_of<std::uint32_t>({4000000000U}), out, "labels");
  EXPECT_EQ(out[0], 4000000000LL);
  EXPECT_THROW(to_integers(ElementType::kU64, bytes_of<std::uint64_t>({~std::uint64_t{0}}), out, "labels"), Error);
}

TEST(ElementType, SizesThatOverflowAreNone) {
  const std::array<std::size_t, 2> small{3, 4};
  EXPECT_EQ(array_bytes(small, 4), 48U);
  const std::array<std::size_t, 2> large{std::size_t{1} << 40, std::size_t{1} << 40};
  EXPECT_FALSE(array_bytes(large, 4));
}

}  // namespace
}  // namespace annulus
