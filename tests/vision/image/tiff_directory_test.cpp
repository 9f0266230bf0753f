// Numbers of TIFF directories in both byte orders; damage is like absence.
#include "annulus/vision/image/tiff_directory.h"

#include <gtest/gtest.h>

#include <string>

namespace annulus {
namespace {

std::optional<std::uint32_t> value_of(const std::string& block, std::uint32_t tag) {
  return TiffDirectory(std::as_bytes(std::span(block))).value(tag);
}

const std::string kLittle(
    "II*\0\x08\0\0\0\x02\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\x0F\x01\x02\0\x04\0\0\0abc\0\0\0\0\0", 38);
const std::string kBig("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x04\0\0\0\x01\0\x01\0\x02\0\0\0\0", 26);

TEST(TiffDirectory, ReadsNumbersInBothByteOrders) {
  EXPECT_EQ(value_of(kLittle, TiffDirectory::kOrientation), 6U);
  EXPECT_EQ(value_of(kBig, TiffDirectory::kOrientation), 65538U);
  EXPECT_EQ(value_of(kLittle, TiffDirectory::kMake), std::nullopt);  // text
  EXPECT_TRUE(TiffDirectory(std::as_bytes(std::span(kLittle))).has(TiffDirectory::kMake));
  EXPECT_FALSE(TiffDirectory(std::as_bytes(std::span(kLittle))).has(TiffDirectory::kDngVersion));
}

TEST(TiffDirectory, DamageIsLikeAbsence) {
  for (std::size_t size = 0; size < 22; ++size) {
    EXPECT_EQ(value_of(kLittle.substr(0, size), TiffDirectory::kOrientation).value_or(0) % 6, 0U) << size;
  }
  EXPECT_EQ(value_of("IM" + kLittle.substr(2), TiffDirectory::kOrientation), std::nullopt);
  std::string far = kLittle;
  far[7] = '\x7F';  // the directory would be beyond the end
  EXPECT_EQ(value_of(far, TiffDirectory::kOrientation), std::nullopt);
}

}  // namespace
}  // namespace annulus
