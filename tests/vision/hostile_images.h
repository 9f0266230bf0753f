// Makes the image files that a careless decoder chokes on: small files that claim or inflate to huge pictures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/vision/image_fixtures.h"

namespace annulus::hostile {

inline std::string number(std::uint64_t value, std::size_t bytes, bool big_endian) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    text[big_endian ? bytes - 1 - i : i] = static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  return text;
}

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

// `count` zero bytes as zlib would deflate them with its fixed code: a literal, then copies of 258 and single literals.
inline std::string deflated_zeros(std::uint64_t count) {
  std::string out("\x78\x01", 2);
  unsigned held = 0;
  unsigned bits = 0;
  const auto put = [&](unsigned value, unsigned width) {  // lowest bit first
    held |= value << bits;
    for (bits += width; bits >= 8; bits -= 8, held >>= 8) out.push_back(static_cast<char>(held & 0xFFU));
  };
  constexpr unsigned kLiteralZero = 0b00001100;  // codes are written from their highest bit, so they stand reversed
  constexpr unsigned kCopy258 = 0b10100011;      // length code 285, followed by the distance code 0 for one byte back
  constexpr std::uint64_t kCopied = 258;
  put(0b011, 3);  // the last block, fixed code
  put(kLiteralZero, 8);
  std::uint64_t left = count - 1;
  for (; left >= kCopied; left -= kCopied) put(kCopy258, 13);
  for (; left > 0; --left) put(kLiteralZero, 8);
  put(0, 7);  // end of the block
  put(0, 7);  // fills the last byte
  return out + number((count % 65521) << 16 | 1, 4, true);
}

inline std::string png_chunk(std::string_view type, const std::string& data) {
  const std::string body = std::string(type) + data;
  return number(data.size(), 4, true) + body + number(crc32(body), 4, true);
}

// A black picture of a bit a pixel; `before` are chunks between header and pixels.
inline std::string black_png(std::uint64_t width, std::uint64_t height, const std::string& before = {}) {
  const std::string header = number(width, 4, true) + number(height, 4, true) + std::string("\x01\0\0\0\0", 5);
  return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header) + before +
         png_chunk("IDAT", deflated_zeros(((width + 7) / 8 + 1) * height)) + png_chunk("IEND", "");
}

// A header of that size with next to no pixels behind it.
inline std::string lying_png(std::uint64_t width, std::uint64_t height) {
  const std::string header = number(width, 4, true) + number(height, 4, true) + std::string("\x08\x02\0\0\0", 5);
  return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", header) + png_chunk("IDAT", deflated_zeros(100)) +
         png_chunk("IEND", "");
}

inline std::string fixture_text(const std::string& name) {
  const auto bytes = fixture_bytes(name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A real JPEG whose frame header claims another size; marker 0xC0 is a baseline frame, 0xC9 an arithmetic-coded one.
inline std::string lying_jpeg(std::uint64_t width, std::uint64_t height, char marker = '\xC0') {
  std::string file = fixture_text("jpeg_7x5.jpg");
  const std::size_t frame = file.find(std::string("\xFF\xC0\x00\x11\x08", 5));
  if (frame == std::string::npos) throw std::runtime_error("the fixture has no baseline frame");
  file[frame + 1] = marker;
  return file.replace(frame + 5, 4, number(height, 2, true) + number(width, 2, true));
}

inline std::string riff(const std::string& chunks) {
  return "RIFF" + number(4 + chunks.size(), 4, false) + "WEBP" + chunks;
}

// A lossless WebP header (a side is at most 16384) with zeros behind it.
inline std::string lying_webp(std::uint64_t width, std::uint64_t height) {
  const std::string data = '\x2F' + number((width - 1) | (height - 1) << 14, 4, false) + std::string(21, '\0');
  return riff("VP8L" + number(data.size(), 4, false) + data);
}

// An animation with a canvas of up to 2^24 a side and no frame.
inline std::string lying_animation(std::uint64_t width, std::uint64_t height) {
  const std::string canvas = std::string("\x02\0\0\0", 4) + number(width - 1, 3, false) + number(height - 1, 3, false);
  return riff("VP8X" + number(10, 4, false) + canvas + "ANIM" + number(6, 4, false) + std::string(6, '\0'));
}

struct File {
  std::string name;
  std::string bytes;
  std::string complaint;  // what the sentence about it must say
};

// One of each kind; none is larger than 700 kB.
inline std::vector<File> files() {
  const std::string jpeg = fixture_text("jpeg_97x61.jpg");
  std::string flipped = jpeg;
  for (std::size_t i = flipped.size() / 4; i + 2 < flipped.size(); i += 37)
    flipped[i] = static_cast<char>(flipped[i] ^ 0x55);
  const std::string bomb = deflated_zeros(std::uint64_t{100} << 20);
  const std::string black = black_png(20000, 20000);
  return {
      {"truncated.jpg", jpeg.substr(0, jpeg.size() / 2), "the JPEG file is cut short"},
      {"flipped.jpg", flipped, "the JPEG file cannot be decoded"},
      {"text.jpg", "These are words.\n", "expected a JPEG, PNG or WebP image, found text"},
      {"empty.jpg", "", "found an empty file"},
      {"black.png", black, "the PNG image is 20000 x 20000 pixels, more than the limit of 200000000"},
      {"black_cut.png", black.substr(0, black.size() / 2), "more than the limit of 200000000"},
      {"header.png", lying_png(0x7FFFFFFF, 0x7FFFFFFF), "2147483647 x 2147483647 pixels, a side longer than the limit"},
      {"fits.png", lying_png(14000, 14000), "bytes cannot hold 14000 x 14000 pixels"},
      {"text_bomb.png", black_png(16, 16, png_chunk("zTXt", std::string("Comment\0\0", 9) + bomb)),
       "the PNG file's text or colour profile is larger than the limit of 16 MB"},
      {"profile_bomb.png", black_png(16, 16, png_chunk("iCCP", std::string("p\0\0", 3) + bomb)),
       "the PNG file's text or colour profile is larger than the limit of 16 MB"},
      {"header.jpg", lying_jpeg(65500, 65500), "the JPEG image is 65500 x 65500 pixels, more than the limit"},
      {"fits.jpg", lying_jpeg(14000, 14000), "bytes cannot hold 14000 x 14000 pixels"},
      {"arithmetic.jpg", lying_jpeg(14142, 14142, '\xC9'), "bytes cannot hold 14142 x 14142 pixels"},
      {"header.webp", lying_webp(16384, 16384), "the WebP image is 16384 x 16384 pixels, more than the limit"},
      {"fits.webp", lying_webp(14000, 14000), "the WebP file cannot be decoded"},
      {"animation.webp", lying_animation(1 << 24, 100), "16777216 x 100 pixels, a side longer than the limit"},
  };
}

}  // namespace annulus::hostile
