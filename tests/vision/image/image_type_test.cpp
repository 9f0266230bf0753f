// Types of image files by their first bytes.
#include "annulus/vision/image/image_type.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

std::optional<ImageType> type_of(const std::string& text) { return image_type_of(std::as_bytes(std::span(text))); }

TEST(ImageType, IsKnownByTheFirstBytes) {
  EXPECT_EQ(type_of("\xFF\xD8\xFF\xE0 and more"), ImageType::kJpeg);
  EXPECT_EQ(type_of("\x89PNG\r\n\x1A\n"), ImageType::kPng);
  EXPECT_EQ(type_of("RIFF1234WEBP"), ImageType::kWebp);
  EXPECT_EQ(type_of("GIF89a"), ImageType::kGif);
  EXPECT_EQ(type_of(std::string("II*\0\x08\0\0\0", 8)), ImageType::kTiff);
  EXPECT_EQ(type_of(std::string("MM\0*\0\0\0\x08", 8)), ImageType::kTiff);
  EXPECT_EQ(type_of("BM" + std::string(8, 'x') + "abcd" + std::string("\x28\0\0\0", 4)), ImageType::kBmp);
  EXPECT_EQ(type_of("\xFF\x0A and more"), ImageType::kJxl);
  EXPECT_EQ(type_of(std::string("\0\0\0\x0CJXL \r\n\x87\n", 12)), ImageType::kJxl);
  for (const char* other : {"", "\xFF\xD8", "\x89PNG", "RIFF1234WEB", "RIFF1234WAVE", "GIF88a", "photos/a.png\n", "II",
                            "BMW and other cars"}) {
    EXPECT_EQ(type_of(other), std::nullopt) << other;
  }
}

std::string with_brands(const std::string& brands) {
  return std::string("\0\0\0", 3) + static_cast<char>(8 + brands.size()) + "ftyp" + brands + "and more boxes";
}

TEST(ImageType, OfBoxesIsKnownByTheirBrands) {
  EXPECT_EQ(type_of(with_brands("heic1234mif1heic")), ImageType::kHeic);
  EXPECT_EQ(type_of(with_brands("mif11234mif1miaf")), ImageType::kHeic);
  EXPECT_EQ(type_of(with_brands("mif11234miafavif")), ImageType::kAvif);
  EXPECT_EQ(type_of(with_brands("avif1234")), ImageType::kAvif);
  EXPECT_EQ(type_of(with_brands("crx 1234isom")), ImageType::kRaw);
  EXPECT_EQ(type_of(with_brands("mp421234isom")), std::nullopt);
  EXPECT_EQ(type_of(with_brands("isomheic")), std::nullopt);  // a version, not a brand
}

// A directory of single numbers.
std::string tiff_with(const std::vector<std::array<int, 2>>& entries) {
  std::string text("II*\0\x08\0\0\0", 8);
  const auto put = [&](int value, int bytes) {
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 255));
  };
  put(static_cast<int>(entries.size()), 2);
  for (const auto& [tag, value] : entries) {
    put(tag, 2);
    put(4, 2);
    put(1, 4);
    put(value, 4);
  }
  return text + std::string(4, '\0');
}

TEST(ImageType, OfCamerasIsKnownByBeginningOrDirectory) {
  for (const std::string head : {"IIRO", "MMOR", "FUJIFILMCCD-RAW", "FOVb"}) {
    EXPECT_EQ(type_of(head + " and more"), ImageType::kRaw) << head;
  }
  EXPECT_EQ(type_of(std::string("II*\0\x10\0\0\0CR\2\0", 12)), ImageType::kRaw);
  EXPECT_EQ(type_of(tiff_with({{50706, 1}})), ImageType::kRaw);                    // DNG
  EXPECT_EQ(type_of(tiff_with({{254, 1}, {271, 0}, {330, 8}})), ImageType::kRaw);  // a small picture comes first
  EXPECT_EQ(type_of(tiff_with({{259, 6}, {271, 0}, {330, 8}, {513, 9}})), ImageType::kRaw);
  EXPECT_EQ(type_of(tiff_with({{262, 32803}, {271, 0}})), ImageType::kRaw);         // a sensor's colours
  EXPECT_EQ(type_of(tiff_with({{254, 0}, {262, 2}, {271, 0}})), ImageType::kTiff);  // of a camera or scanner
  EXPECT_EQ(type_of(tiff_with({{254, 1}, {330, 8}})), ImageType::kTiff);
}

TEST(ImageType, FormatsAreNamedInOneList) {
  EXPECT_EQ(image_format_names(), "JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW");
  for (std::size_t i = 0; i < image_formats().size(); ++i) {
    EXPECT_EQ(image_formats()[i].type, static_cast<ImageType>(i));
    EXPECT_TRUE(is_image_type_extension(image_formats()[i].extension));
    EXPECT_TRUE(is_image_extension("." + std::string(image_formats()[i].extension)));
  }
  EXPECT_TRUE(is_image_extension(".HEIC"));
  EXPECT_TRUE(is_image_extension(".Nef"));
  EXPECT_TRUE(is_raw_extension(".CR2"));
  EXPECT_FALSE(is_raw_extension(".jpg"));
  for (const char* other : {"", ".txt", "jpg", ".mp4", ".svg"}) EXPECT_FALSE(is_image_extension(other)) << other;
  EXPECT_FALSE(is_image_type_extension("../jpg"));
}

TEST(ImageType, AFormatThatABuildLacksNamesItsPackage) {
  expect_error(ErrorKind::kFormat,
               "a.heic: this build of annulus cannot read HEIC images: install the Debian package libheif-dev",
               [] { reject_missing_format(ImageType::kHeic, "a.heic"); });
}

TEST(ImageType, HasAnExtension) {
  EXPECT_EQ(extension_of(ImageType::kJpeg), "jpg");
  EXPECT_EQ(extension_of(ImageType::kPng), "png");
  EXPECT_EQ(extension_of(ImageType::kWebp), "webp");
}

}  // namespace
}  // namespace annulus
