// Decoding gives Pillow's pixels to the last bit, and rejects damaged, cut or hostile files in words.
#include "annulus/vision/image/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "annulus/vision/image/jpeg.h"
#include "annulus/vision/image/png.h"
#include "annulus/vision/image/webp.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/image_fixtures.h"

namespace annulus {
namespace {

std::vector<std::byte> bytes_from(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(DecodeImage, GivesPillowsPixels) {
  const auto manifest = fixture_manifest();
  ASSERT_GE(manifest["images"].size(), 48U);
  for (const auto& entry : manifest["images"]) {
    const std::string name = entry["file"];
    const auto file = fixture_bytes(name);
    const Image image = decode_image(file, {}, name);
    EXPECT_EQ(image.width, entry["width"]) << name;
    EXPECT_EQ(image.height, entry["height"]) << name;
    EXPECT_EQ(pixel_digest(image), entry["rgb"]) << name;
    DecodeOptions as_stored;
    as_stored.apply_exif = false;
    EXPECT_EQ(pixel_digest(decode_image(file, as_stored, name)), entry["rgb_without_exif"]) << name;
  }
}

TEST(DecodeImage, NamesTheFormatOfOtherFiles) {
  EXPECT_EQ(rejection({}),
            "test.img: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image, found an "
            "empty file");
  EXPECT_EQ(
      rejection(bytes_from("class,file\n1,a.jpg\n")),
      "test.img: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image, found text");
  EXPECT_EQ(rejection(bytes_from("%PDF-1.7")),
            "test.img: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image, found a "
            "PDF document");
  EXPECT_EQ(rejection(bytes_from(std::string_view("\0\0\0\x14"
                                                  "ftypmp42",
                                                  12))),
            "test.img: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image, found a "
            "video, of which no "
            "frames were chosen");
  EXPECT_EQ(rejection(bytes_from(std::string_view("\x01\x02\x00\x03", 4))),
            "test.img: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image, found "
            "unknown data");
}

TEST(DecodeImage, RejectsTruncatedFiles) {
  const auto manifest = fixture_manifest();
  for (const auto& entry : manifest["images"]) {
    const std::string name = entry["file"];
    const auto file = fixture_bytes(name);
    // The last bytes are an end marker, padding or metadata: only a cut before them loses pixels.
    const std::size_t longest = name.ends_with(".jpg") ? file.size() - 10 : file.size() / 2;
    for (const std::size_t size : {std::size_t{9}, std::size_t{30}, file.size() / 4, file.size() / 2, longest}) {
      const std::string message = rejection(std::span(file).first(std::min(size, longest)));
      EXPECT_EQ(message.rfind("test.img: ", 0), 0U) << name << " cut to " << size << ": " << message;
    }
  }
  const auto jpeg = fixture_bytes("jpeg_97x61.jpg");
  EXPECT_EQ(rejection(std::span(jpeg).first(jpeg.size() - 200)),
            "test.img: the JPEG file is truncated: its data ends before the last pixel");
  const auto png = fixture_bytes("png_pillow.png");
  EXPECT_EQ(rejection(std::span(png).first(png.size() / 2)),
            "test.img: the PNG file is truncated: its data ends before the last pixel");
  const auto webp = fixture_bytes("webp_lossy.webp");
  EXPECT_EQ(rejection(std::span(webp).first(webp.size() / 2)),
            "test.img: the WebP file is truncated: its data ends before the last pixel");
}

TEST(DecodeImage, RejectsDamagedPixels) {
  auto jpeg = fixture_bytes("jpeg_97x61.jpg");
  jpeg[jpeg.size() / 2] = std::byte{0xFF};
  jpeg[jpeg.size() / 2 + 1] = std::byte{0xD9};  // an end marker amid the data
  EXPECT_NE(rejection(jpeg).find("premature end of data segment"), std::string::npos);
  auto png = fixture_bytes("png_pillow.png");
  png[png.size() / 2] ^= std::byte{0x10};
  EXPECT_NE(rejection(png).find("the PNG file cannot be decoded: "), std::string::npos);
}

TEST(DecodeImage, ChecksSizesBeforeTakingMemory) {
  EXPECT_EQ(rejection(fixture_bytes("huge_20000x20000.bin")),
            "test.img: the PNG image is 20000 x 20000 pixels, more than the limit of 200000000 pixels");
  DecodeOptions generous;
  generous.limits.max_pixels = std::size_t{1} << 40;
  EXPECT_EQ(rejection(fixture_bytes("huge_20000x20000.bin"), generous),
            "test.img: the PNG file is truncated: 1084 bytes cannot hold 20000 x 20000 pixels");

  auto jpeg = fixture_bytes("jpeg_97x61.jpg");
  const std::string_view frame("\xFF\xC0\x00\x11\x08", 5);  // followed by height and width
  const auto wanted = std::as_bytes(std::span(frame));
  const auto at = std::search(jpeg.begin(), jpeg.end(), wanted.begin(), wanted.end());
  ASSERT_NE(at, jpeg.end());
  std::fill(at + 5, at + 9, std::byte{0x30});  // 12336 x 12336
  EXPECT_NE(rejection(jpeg).find("bytes cannot hold 12336 x 12336 pixels"), std::string::npos);
  std::fill(at + 5, at + 9, std::byte{0xF0});
  EXPECT_EQ(rejection(jpeg),
            "test.img: the JPEG image is 61680 x 61680 pixels, more than the limit of 200000000 pixels");

  DecodeOptions small;
  small.limits.max_side = 60;
  EXPECT_EQ(rejection(fixture_bytes("webp_lossy.webp"), small),
            "test.img: the WebP image is 61 x 43 pixels, a side longer than the limit of 60");
  small.limits.max_bytes = 100;
  EXPECT_NE(rejection(fixture_bytes("webp_lossy.webp"), small).find("more than the limit of 100"), std::string::npos);
}

// The file with its first scan, which any decoder may read again, so many times more. Each is a pass over the picture.
std::vector<std::byte> with_scans(const std::vector<std::byte>& jpeg, int more) {
  const std::string text(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  const std::size_t scan = text.find("\xFF\xDA");
  std::size_t end = scan + 2;
  // Within a scan a byte of ones is followed by a zero.
  do end = text.find('\xFF', end + 1);
  while (text[end + 1] == '\0');
  std::string longer = text.substr(0, end);
  for (int i = 0; i < more; ++i) longer += text.substr(scan, end - scan);
  return bytes_from(longer + text.substr(end));
}

TEST(DecodeImage, ScansOfLargeJpegFilesAreCounted) {
  const auto jpeg = fixture_bytes("jpeg_progressive.jpg");
  const auto plain = decode_image(jpeg, {}, "test.img");
  DecodeOptions tight;
  tight.limits.max_pixels = plain.width * plain.height;
  EXPECT_EQ(pixel_digest(decode_image(jpeg, tight, "test.img")), pixel_digest(plain));
  EXPECT_NE(rejection(with_scans(jpeg, 20), tight).find("more than 20 scans of its size"), std::string::npos);
  // A picture that is small beside what is allowed may have more.
  EXPECT_EQ(decode_image(with_scans(jpeg, 20), {}, "test.img").width, plain.width);
  EXPECT_NE(rejection(with_scans(jpeg, 100)).find("more than 100 scans of its size"), std::string::npos);
}

TEST(DecodeImage, TheDeadlineIsHeard) {
  DecodeOptions late;
  late.limits.deadline = now();
  const auto manifest = fixture_manifest();
  for (const auto& entry : manifest["images"]) {
    const std::string name = entry["file"];
    expect_error(ErrorKind::kCancelled, name, [&] { decode_image(fixture_bytes(name), late, name); });
  }
  // Also within decoders, whatever is checked before them.
  expect_error(ErrorKind::kCancelled, "longer than the time",
               [&] { decode_jpeg(fixture_bytes("jpeg_progressive.jpg"), late.limits, "a"); });
  expect_error(ErrorKind::kCancelled, "longer than the time",
               [&] { decode_png(fixture_bytes("png_pillow.png"), late.limits, "a"); });
  expect_error(ErrorKind::kCancelled, "longer than the time",
               [&] { decode_webp(fixture_bytes("webp_lossy.webp"), late.limits, "a"); });
}

}  // namespace
}  // namespace annulus
