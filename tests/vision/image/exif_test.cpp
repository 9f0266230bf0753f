// The orientation field in all its spellings, and each of the eight turns on a picture small enough to write down.
#include "annulus/vision/image/exif.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace annulus {
namespace {

// A TIFF block with one directory entry.
std::vector<std::uint8_t> block(bool little, std::uint32_t tag, std::uint32_t type, std::uint32_t count,
                                std::uint32_t value) {
  std::vector<std::uint8_t> bytes;
  const auto put = [&](std::uint32_t number, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      bytes.push_back(static_cast<std::uint8_t>(number >> (8 * (little ? i : width - 1 - i))));
    }
  };
  bytes.assign(2, little ? 'I' : 'M');
  put(42, 2);
  put(8, 4);
  put(1, 2);
  put(tag, 2);
  put(type, 2);
  put(count, 4);
  const std::size_t width = type == 1 ? 1 : type == 3 ? 2 : 4;
  put(value, width);
  put(0, 4 - width);
  put(0, 4);
  return bytes;
}

int read(const std::vector<std::uint8_t>& bytes) { return exif_orientation(std::as_bytes(std::span(bytes))); }

TEST(ExifOrientation, ReadsEveryByteOrderAndWidth) {
  for (const bool little : {true, false}) {
    for (const std::uint32_t type : {1U, 3U, 4U}) {
      for (std::uint32_t value = 1; value <= 8; ++value) {
        EXPECT_EQ(read(block(little, 0x0112, type, 1, value)), static_cast<int>(value));
      }
    }
  }
  auto prefixed = block(true, 0x0112, 3, 1, 7);
  const std::string prefix("Exif\0\0", 6);
  prefixed.insert(prefixed.begin(), prefix.begin(), prefix.end());
  EXPECT_EQ(read(prefixed), 7);
}

TEST(ExifOrientation, AnythingElseMeansUpright) {
  EXPECT_EQ(read({}), 1);
  EXPECT_EQ(read(block(true, 0x0113, 3, 1, 6)), 1);
  EXPECT_EQ(read(block(true, 0x0112, 3, 1, 0)), 1);
  EXPECT_EQ(read(block(true, 0x0112, 3, 1, 9)), 1);
  EXPECT_EQ(read(block(true, 0x0112, 3, 2, 6)), 1);
  EXPECT_EQ(read(block(true, 0x0112, 2, 1, 6)), 1);
  const auto whole = block(true, 0x0112, 3, 1, 6);
  for (std::size_t size = 0; size < 20; ++size) {
    EXPECT_EQ(read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), 1) << size;
  }
  auto far_away = whole;
  far_away[7] = 0xFF;  // a directory beyond the block
  EXPECT_EQ(read(far_away), 1);
}

TEST(TurnedUpright, MovesPixelsAsTheStandardSays) {
  // Stored 3 x 2:  a b c
  //                d e f
  Image stored = make_image(3, 2);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      stored.pixels[3 * i + c] = static_cast<std::uint8_t>("abcdef"[i] + 10 * static_cast<int>(c));
  }
  const std::array<std::string, 9> expected = {"",       "abcdef", "cbafed", "fedcba", "defabc",
                                               "adbecf", "daebfc", "fcebda", "cfbead"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image upright = turned_upright(stored, orientation);
    EXPECT_EQ(upright.width, orientation >= 5 ? 2U : 3U);
    EXPECT_EQ(upright.height, orientation >= 5 ? 3U : 2U);
    std::string letters;
    for (std::size_t i = 0; i < 6; ++i) {
      letters.push_back(static_cast<char>(upright.pixels[3 * i]));
      EXPECT_EQ(upright.pixels[3 * i + 2], upright.pixels[3 * i] + 20);
    }
    EXPECT_EQ(letters, expected[static_cast<std::size_t>(orientation)]) << "orientation " << orientation;
  }
}

}  // namespace
}  // namespace annulus
