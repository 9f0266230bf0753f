// Colours by profile: Pillow's pixels in every format that holds profiles; files whose profile says nothing of use.
#include "annulus/vision/image/colour_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "annulus/vision/image/png.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

std::string text_with_profile(const std::string& name) {
  std::ifstream file(std::string(ANNULUS_TEST_DATA) + "/profiles/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

DecodeOptions as_srgb() {
  DecodeOptions options;
  options.to_srgb = true;
  return options;
}

std::vector<std::uint8_t> decoded_values(const std::string& name, const DecodeOptions& options = {}) {
  const Image image = photos::decode(text_with_profile(name), options);
  return {image.pixels.get(), image.pixels.get() + 3 * image.width * image.height};
}

int largest_difference(const std::vector<std::uint8_t>& one, const std::vector<std::uint8_t>& other) {
  EXPECT_EQ(one.size(), other.size());
  int largest = 0;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    largest = std::max(largest, std::abs(int{one[i]} - int{other[i]}));
  }
  return largest;
}

TEST(ColourProfile, GivesPillowsColoursInEveryFormat) {
  struct Case {
    std::string file;
    std::string pillow;
    int most;  // HEIC and AVIF are off by one before the conversion, which near black makes more of it
  };
  for (const Case& each :
       {Case{"p3.png", "p3.srgb.png", 1}, Case{"p3.webp", "p3.srgb.png", 1}, Case{"p3.tif", "p3.srgb.png", 1},
        Case{"p3.jxl", "p3.srgb.png", 1}, Case{"p3.heic", "p3.srgb.png", 6}, Case{"p3.avif", "p3.srgb.png", 6},
        Case{"p3_numbers.avif", "p3.srgb.png", 6}, Case{"p3_jpeg.jpg", "p3_jpeg.srgb.png", 1},
        Case{"adobe.png", "adobe.srgb.png", 1}, Case{"grey.png", "grey.srgb.png", 1}}) {
    EXPECT_LE(largest_difference(decoded_values(each.file, as_srgb()), decoded_values(each.pillow)), each.most)
        << each.file;
    EXPECT_GT(largest_difference(decoded_values(each.file), decoded_values(each.pillow)), 50) << each.file;
  }
}

TEST(ColourProfile, UnaskedColoursAreAsStored) {
  for (const char* const name : {"p3.png", "p3.webp", "p3.tif", "p3.jxl", "adobe.png", "srgb.png"}) {
    photos::expect_picture(photos::decode(text_with_profile(name)), photos::Picture::kSmooth, 0, 0, name);
  }
}

TEST(ColourProfile, OfSrgbItselfOrOfOtherColoursChangesNothing) {
  for (const char* const name : {"srgb.png", "wrong.png", "cut.png", "ink.jpg"}) {
    EXPECT_EQ(decoded_values(name, as_srgb()), decoded_values(name)) << name;
  }
}

TEST(ColourProfile, DamagedOnesAreUsedOrIgnored) {
  const std::string png = text_with_profile("p3.png");
  const std::vector<std::byte> profile = decode_png(std::as_bytes(std::span(png)), {}, "p3.png").profile;
  ASSERT_GT(profile.size(), 400U);
  std::size_t used = 0;
  for (std::size_t at = 0; at < profile.size(); ++at) {
    std::vector<std::byte> damaged = profile;
    damaged[at] ^= std::byte{0x55};
    Image image = photos::decode(png);
    convert_to_srgb(image, damaged, {}, "photo.png");
    const Image before = photos::decode(png);
    used += std::equal(image.pixels.get(), image.pixels.get() + 3 * image.width * image.height, before.pixels.get())
                ? 0U
                : 1U;
  }
  EXPECT_GT(used, 0U);
  EXPECT_LT(used, profile.size());
  Image image = photos::decode(png);
  std::vector<std::byte> padded = profile;
  padded.resize(kMaxProfileBytes + 1);
  convert_to_srgb(image, padded, {}, "photo.png");
  photos::expect_picture(image, photos::Picture::kSmooth, 0, 0, "too long a profile");
}

TEST(ColourProfile, PrimariesGiveAProfileOrNone) {
  EXPECT_TRUE(profile_of_primaries({}).empty());
  // Those of sRGB.
  const auto srgb = profile_of_primaries({{{0.64, 0.33}, {0.3, 0.6}, {0.15, 0.06}, {0.3127, 0.329}}});
  Image image = photos::decode(text_with_profile("p3.png"));
  convert_to_srgb(image, srgb, {}, "photo.png");
  photos::expect_picture(image, photos::Picture::kSmooth, 0, 0, "colours of sRGB");
}

TEST(ColourProfile, HearsADeadline) {
  for (const char* const name : {"adobe.png", "grey.png"}) {
    const std::string png = text_with_profile(name);
    DecodedImage decoded = decode_png(std::as_bytes(std::span(png)), {}, name);
    DecodeLimits late;
    late.deadline = now();
    expect_error(ErrorKind::kCancelled, std::string(name) + ": decoding took longer",
                 [&] { convert_to_srgb(decoded.image, decoded.profile, late, name); });
  }
}

}  // namespace
}  // namespace annulus
