// Every kind of hostile image is rejected in one sentence that names the file and says what is wrong with it.
#include "tests/fixtures/hostile_images.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "annulus/vision/image/image.h"

namespace annulus {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(HostileImages, AreRejectedInOneSentence) {
  for (const hostile::File& file : hostile::files()) {
    const std::string sentence = rejection(bytes_of(file.bytes));
    EXPECT_TRUE(sentence.starts_with("test.img: ")) << file.name << ": " << sentence;
    EXPECT_NE(sentence.find(file.complaint), std::string::npos) << file.name << ": " << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << file.name << ": " << sentence;
  }
}

// The bombs above are rejected for their size and not because they were made wrongly.
TEST(HostileImages, TheirSmallSistersAreWelcome) {
  const std::string comment = hostile::png_chunk("zTXt", std::string("Comment\0\0", 9) + hostile::deflated_zeros(1000));
  const std::string png = hostile::black_png(1000, 700, comment);
  const Image image = decode_image(bytes_of(png), {}, "test.img");
  ASSERT_EQ(image.width, 1000U);
  ASSERT_EQ(image.height, 700U);
  EXPECT_TRUE(
      std::all_of(image.pixels.get(), image.pixels.get() + 3 * 700 * 1000, [](auto value) { return value == 0; }));
  const std::string jpeg = hostile::lying_jpeg(7, 5);
  EXPECT_EQ(decode_image(bytes_of(jpeg), {}, "test.img").height, 5U);
}

}  // namespace
}  // namespace annulus
