// The program itself as the process that decodes images for annulus serve.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/decode/decoder_process.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

TEST(DecodeWorker, DecodesWhatTheLibraryDecodes) {
  server::DecoderProcess process({ANNULUS_PROGRAM, "decode-worker"}, {});
  const std::string file = read_text(std::string(ANNULUS_TEST_DATA) + "/images/jpeg_420.jpg");
  const auto bytes = std::as_bytes(std::span(file));
  const Image expected = decode_image(bytes, {}, "the image");
  const auto values = [](const Image& image) {
    return std::vector<std::uint8_t>(image.pixels.get(), image.pixels.get() + 3 * image.width * image.height);
  };
  std::vector<std::uint8_t> found;
  process.decode(bytes, {}, "the image", [&](const Image& image) { found = values(image); });
  EXPECT_EQ(found, values(expected));
}

TEST(DecodeWorker, EndsWhereNoServerStartedIt) {
  const Scratch scratch;
  const Outcome outcome = run_annulus(scratch, {"decode-worker"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace annulus
