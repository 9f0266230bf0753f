// The images of tests/data/images, read for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/vision/image.h"

namespace annulus {

inline std::vector<std::byte> fixture_bytes(const std::string& name) {
  std::ifstream file(std::string(ANNULUS_TEST_DATA) + "/images/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline nlohmann::json fixture_manifest() {
  std::ifstream file(std::string(ANNULUS_TEST_DATA) + "/images/manifest.json");
  return nlohmann::json::parse(file);
}

inline std::string pixel_digest(const Image& image) {
  return sha256_hex(std::as_bytes(std::span(image.pixels.get(), 3 * image.width * image.height)));
}

// The message of the Error{kFormat} that decoding must throw.
inline std::string refusal(std::span<const std::byte> file, const DecodeOptions& options = {}) {
  try {
    decode_image(file, options, "test.img");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    return error.what();
  }
  ADD_FAILURE() << "the file was accepted";
  return {};
}

}  // namespace annulus
