// BMP files written here byte by byte: every depth and compression; cut, damaged and lying files.
#include "annulus/vision/image/bmp.h"

#include <vector>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/photo_fixtures.h"

namespace annulus {
namespace {

std::string little(std::uint64_t value, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(value >> (8 * i) & 0xFFU);
  return text;
}

struct Bmp {
  int width = 2;
  int height = 2;
  int bits = 24;
  int compression = 0;
  std::string after_header{};  // masks or a palette
  std::string pixels{};

  std::string bytes() const {
    const std::string header = little(40, 4) + little(static_cast<std::uint32_t>(width), 4) +
                               little(static_cast<std::uint32_t>(height), 4) + little(1, 2) +
                               little(static_cast<std::uint64_t>(bits), 2) +
                               little(static_cast<std::uint64_t>(compression), 4) + std::string(20, '\0');
    const std::size_t offset = 14 + header.size() + after_header.size();
    return "BM" + little(offset + pixels.size(), 4) + little(0, 4) + little(offset, 4) + header + after_header + pixels;
  }
};

using Values = std::vector<int>;

// The values of all pixels, row by row.
Values values_of(const std::string& bytes) {
  const Image image = photos::decode(bytes);
  return {image.pixels.get(), image.pixels.get() + 3 * image.width * image.height};
}

// Red and green above, blue and white below.
const Values kFour = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
const std::string kPalette("\0\0\xFF\0\0\xFF\0\0\xFF\0\0\0\xFF\xFF\xFF\0", 16);  // blue, green, red

Bmp with_palette(int bits, const std::string& pixels, int compression = 0) {
  std::string palette = kPalette;
  palette.resize(std::size_t{4} << bits, '\0');
  return {2, 2, bits, compression, palette, pixels};
}

TEST(Bmp, EveryDepthGivesTheSamePicture) {
  const std::string rows24("\xFF\0\0\xFF\xFF\xFF\0\0\0\0\xFF\0\xFF\0\0\0", 16);
  EXPECT_EQ(values_of(Bmp{2, 2, 24, 0, {}, rows24}.bytes()), kFour);
  EXPECT_EQ(values_of(Bmp{2, -2, 24, 0, {}, rows24.substr(8) + rows24.substr(0, 8)}.bytes()), kFour);
  const std::string rows32("\xFF\0\0\x07\xFF\xFF\xFF\x07\0\0\xFF\x07\0\xFF\0\x07", 16);
  EXPECT_EQ(values_of(Bmp{2, 2, 32, 0, {}, rows32}.bytes()), kFour);
  const std::string rows16("\x1F\0\xFF\x7F\0\x7C\xE0\x03", 8);
  EXPECT_EQ(values_of(Bmp{2, 2, 16, 0, {}, rows16}.bytes()), kFour);
  const std::string masks565 = little(0xF800, 4) + little(0x07E0, 4) + little(0x001F, 4);
  const std::string rows565("\x1F\0\xFF\xFF\0\xF8\xE0\x07", 8);
  EXPECT_EQ(values_of(Bmp{2, 2, 16, 3, masks565, rows565}.bytes()), kFour);
  const std::string masks32 = little(0xFF, 4) + little(0xFF00, 4) + little(0xFF0000, 4);
  const std::string rows_turned("\0\0\xFF\0\xFF\xFF\xFF\0\xFF\0\0\0\0\xFF\0\0", 16);
  EXPECT_EQ(values_of(Bmp{2, 2, 32, 3, masks32, rows_turned}.bytes()), kFour);
  EXPECT_EQ(values_of(with_palette(8, std::string("\2\3\0\0\0\1\0\0", 8)).bytes()), kFour);
  EXPECT_EQ(values_of(with_palette(4, std::string("\x23\0\0\0\x01\0\0\0", 8)).bytes()), kFour);
  EXPECT_EQ(values_of(Bmp{2, 1, 1, 0, std::string("\0\0\xFF\0\xFF\0\0\0", 8), std::string("\x40\0\0\0", 4)}.bytes()),
            (Values{255, 0, 0, 0, 0, 255}));
}

TEST(Bmp, RunsGiveThePictureToo) {
  // Runs, the end of a row, colours one by one, the end of the picture.
  EXPECT_EQ(values_of(with_palette(8, std::string("\1\2\1\3\0\0\1\0\1\1\0\1", 12), 1).bytes()), kFour);
  EXPECT_EQ(values_of(with_palette(4, std::string("\2\x23\0\0\2\x01\0\1", 8), 2).bytes()), kFour);
  // A step over the first row and column leaves them in the first colour.
  EXPECT_EQ(values_of(with_palette(8, std::string("\0\2\1\1\1\1\0\1", 8), 1).bytes()),
            (Values{255, 0, 0, 0, 255, 0, 255, 0, 0, 255, 0, 0}));
  Bmp wide = with_palette(8, std::string("\0\4\0\1\2\3\0\1", 8), 1);
  wide.width = 4;
  wide.height = 1;
  EXPECT_EQ(values_of(wide.bytes()), kFour);
}

TEST(Bmp, FilesOfOs2AreRead) {
  const std::string header = little(12, 4) + little(2, 2) + little(1, 2) + little(1, 2) + little(24, 2);
  EXPECT_EQ(values_of("BM" + std::string(8, '\0') + little(26, 4) + header + std::string("\1\2\3\4\5\6\0\0", 8)),
            (Values{3, 2, 1, 6, 5, 4}));
}

TEST(Bmp, CutLyingAndOddFilesAreRejectedInASentence) {
  const std::string rows24("\xFF\0\0\xFF\xFF\xFF\0\0\0\0\xFF\0\xFF\0\0\0", 16);
  const std::string whole = Bmp{2, 2, 24, 0, {}, rows24}.bytes();
  for (std::size_t size = 18; size < whole.size(); ++size) {
    EXPECT_NE(photos::complaint(whole.substr(0, size)).find("the BMP file is truncated"), std::string::npos) << size;
  }
  const std::string runs = with_palette(8, std::string("\1\2\1\3\0\0\1\0\1\1\0\1", 12), 1).bytes();
  EXPECT_EQ(photos::complaint(runs.substr(0, runs.size() - 3)),
            "photo.jpg: the BMP file is truncated: its data ends before the last pixel");
  EXPECT_EQ(photos::complaint(Bmp{60000, 60000, 24, 0, {}, rows24}.bytes()),
            "photo.jpg: the BMP image is 60000 x 60000 pixels, more than the limit of 200000000 pixels");
  EXPECT_NE(photos::complaint(Bmp{14000, 14000, 24, 0, {}, rows24}.bytes()).find("bytes cannot hold 14000 x 14000"),
            std::string::npos);
  EXPECT_NE(
      photos::complaint(Bmp{14000, 14000, 8, 1, kPalette, "\0\1"}.bytes()).find("bytes cannot hold 14000 x 14000"),
      std::string::npos);
  EXPECT_NE(photos::complaint(Bmp{0, 2, 24, 0, {}, rows24}.bytes()).find("expected an image with pixels"),
            std::string::npos);
  EXPECT_NE(photos::complaint(Bmp{2, std::numeric_limits<int>::min(), 24, 0, {}, rows24}.bytes()).find("2147483648"),
            std::string::npos);
  EXPECT_EQ(
      photos::complaint(Bmp{2, 2, 8, 4, {}, rows24}.bytes()),
      "photo.jpg: the BMP file cannot be decoded: 8 bits a pixel with compression 4 are not read; save it as PNG");
}

TEST(Bmp, TheDeadlineIsHeardWithinTheFile) {
  DecodeLimits late;
  late.deadline = now();
  for (const Bmp& bmp : {Bmp{2, 2, 24, 0, {}, std::string(16, '\0')}, with_palette(8, std::string("\0\1", 2), 1)}) {
    const std::string text = bmp.bytes();
    expect_error(ErrorKind::kCancelled, "longer than the time",
                 [&] { decode_bmp(std::as_bytes(std::span(text)), late, "a"); });
  }
}

}  // namespace
}  // namespace annulus
