// One process that decodes: the pixels are those of decode_image, and whatever it does ends it alone.
#include "server/decode/decoder_process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "tests/fixtures/hostile_decoders.h"

namespace annulus::server {
namespace {

using Pixels = std::vector<std::uint8_t>;

Pixels pixels_of(const Image& image) {
  return {image.pixels.get(), image.pixels.get() + 3 * image.width * image.height};
}

// What the decoder says of a file: its pixels, or its sentence.
struct Said {
  Pixels pixels;
  std::size_t width = 0;
  std::string sentence;
  ErrorKind kind = ErrorKind::kInternal;
};

Said ask(DecoderProcess& process, std::string_view file, const DecodeOptions& options = without_deadline()) {
  Said said;
  try {
    process.decode(bytes_of(file), options, "the image", [&](const Image& image) {
      said.pixels = pixels_of(image);
      said.width = image.width;
    });
  } catch (const Error& error) {
    said.sentence = error.what();
    said.kind = error.kind();
  }
  return said;
}

class DecoderProcessTest : public ::testing::Test {
 protected:
  DecoderProcess process_{hostile_decoder(), tiny_images()};

  // What a filter ends, which builds with sanitizers do without.
  void expect_filtered(std::string_view file) {
    if (runs_sanitized()) GTEST_SKIP() << "a sanitizer needs calls that the filter ends";
    expect_end(file, "signal 31");
  }
  // The file ends the process, which says so in a sentence about the image.
  void expect_end(std::string_view file, const std::string& reason) {
    const Said said = ask(process_, file);
    EXPECT_EQ(said.kind, ErrorKind::kFormat);
    EXPECT_EQ(said.sentence, "the image: the image cannot be decoded: it ended its decoder (" + reason + ")");
    EXPECT_EQ(process_.end(), reason);
    EXPECT_FALSE(process_.runs());
    EXPECT_FALSE(process_.ended_by_others());
  }
};

// Every fixture, of every format: the same pixels or the same sentence as in this process.
TEST_F(DecoderProcessTest, GivesWhatDecodeImageGives) {
  std::size_t pictures = 0;
  for (const char* folder : {"/images", "/photos"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(ANNULUS_TEST_DATA) + folder)) {
      if (!entry.is_regular_file() || entry.file_size() > tiny_images().max_bytes) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string file{std::istreambuf_iterator<char>(stream), {}};
      Said expected;
      try {
        const Image image = decode_image(bytes_of(file), without_deadline(), "the image");
        expected.pixels = pixels_of(image);
        expected.width = image.width;
        ++pictures;
      } catch (const Error& error) {
        expected.sentence = error.what();
      }
      const Said said = ask(process_, file);
      EXPECT_EQ(said.sentence, expected.sentence) << entry.path();
      EXPECT_EQ(said.width, expected.width) << entry.path();
      EXPECT_EQ(said.pixels, expected.pixels) << entry.path();
    }
  }
  EXPECT_GE(pictures, 100U);
  EXPECT_TRUE(process_.runs());
}

TEST_F(DecoderProcessTest, AnImageIsTurnedUprightOnlyIfAsked) {
  std::ifstream stream(std::string(ANNULUS_TEST_DATA) + "/images/exif_6.jpg", std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  DecodeOptions options = without_deadline();
  const std::size_t upright = ask(process_, file, options).width;
  options.apply_exif = false;
  EXPECT_NE(ask(process_, file, options).width, upright);
}

TEST_F(DecoderProcessTest, ACrashEndsTheProcess) {
  // A sanitizer makes an exit code of the signal.
  if (runs_sanitized()) {
    ask(process_, "crash");
    EXPECT_FALSE(process_.runs());
    return;
  }
  expect_end("crash", "signal 11");
}

TEST_F(DecoderProcessTest, AnExitEndsTheProcess) { expect_end("exit", "exit code 3"); }
TEST_F(DecoderProcessTest, ItHasNoNetwork) { expect_filtered("socket"); }
TEST_F(DecoderProcessTest, ItStartsNoPrograms) { expect_filtered("execute"); }
TEST_F(DecoderProcessTest, ItStartsNoProcesses) { expect_filtered("fork"); }
// dup2 is no call that decoders need.
TEST_F(DecoderProcessTest, ItMovesNoDescriptors) { expect_filtered("descriptors"); }

TEST_F(DecoderProcessTest, ItReadsNoFiles) {
  if (runs_sanitized()) GTEST_SKIP() << "a sanitizer needs calls that the filter ends";
  const Said said = ask(process_, "read");
  ASSERT_EQ(said.pixels.size(), 3U) << said.sentence;
  EXPECT_EQ(said.pixels[0], EACCES);
  EXPECT_TRUE(process_.runs());
}

TEST(DecoderProcess, HasNoEnvironment) {
  ::setenv("ANNULUS_TEST_TOKEN", "a-token-that-is-a-secret", 1);
  ::setenv("LD_LIBRARY_PATH", "/nowhere", 1);
  DecoderProcess process(hostile_decoder(), tiny_images());
  ::unsetenv("ANNULUS_TEST_TOKEN");
  ::unsetenv("LD_LIBRARY_PATH");
  const Said said = ask(process, "environment");
  EXPECT_EQ(said.sentence.find("ANNULUS"), std::string::npos) << said.sentence;
  EXPECT_NE(said.sentence.find("LD_LIBRARY_PATH=/nowhere"), std::string::npos) << said.sentence;
  // A sentence is one line.
  EXPECT_EQ(said.sentence.find('\n'), std::string::npos) << said.sentence;
}

TEST_F(DecoderProcessTest, ALoopEndsAtTheDeadline) {
  const Said said = ask(process_, "loop", in_half_a_second());
  EXPECT_EQ(said.kind, ErrorKind::kCancelled);
  EXPECT_EQ(said.sentence, "the image: decoding took longer than the time there was");
  EXPECT_EQ(process_.end(), "deadline");
  EXPECT_FALSE(process_.ended_by_others());
}

TEST_F(DecoderProcessTest, MemoryIsBounded) {
  if (runs_sanitized()) GTEST_SKIP() << "a sanitizer takes more addresses than there are";
  const Said said = ask(process_, "memory");
  EXPECT_EQ(said.kind, ErrorKind::kFormat);
  EXPECT_EQ(said.sentence, "the image: decoding it takes more than the " +
                               std::to_string(decoder_memory(tiny_images()) >> 20) +
                               " MB of memory that there are for an image");
  // What it took is free again.
  EXPECT_TRUE(process_.runs());
  EXPECT_EQ(ask(process_, "read").width, 1U);
}

TEST_F(DecoderProcessTest, AnImpossibleSizeIsNotBelieved) {
  const Said said = ask(process_, "lie");
  EXPECT_EQ(said.kind, ErrorKind::kFormat);
  EXPECT_NE(said.sentence.find("impossible size"), std::string::npos) << said.sentence;
  EXPECT_FALSE(process_.runs());
}

TEST_F(DecoderProcessTest, KnowsThatOthersKilledIt) {
  ::kill(process_.id(), SIGKILL);
  EXPECT_NE(ask(process_, "read").sentence, "");
  EXPECT_EQ(process_.end(), "signal 9");
  EXPECT_TRUE(process_.ended_by_others());
}

TEST_F(DecoderProcessTest, AFileThatIsTooLargeIsNotSent) {
  const Said said = ask(process_, std::string(tiny_images().max_bytes + 1, 'x'));
  EXPECT_EQ(said.kind, ErrorKind::kFormat);
  EXPECT_NE(said.sentence.find("more than the limit"), std::string::npos) << said.sentence;
  EXPECT_TRUE(process_.runs());
}

TEST(DecoderProcess, SaysWhyItCannotBeStarted) {
  const auto start = [](const char* program) {
    try {
      const DecoderProcess process({program}, tiny_images());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(start("/nowhere"), "could not run /nowhere: No such file or directory");
  EXPECT_EQ(start("/bin/false"), "the program /bin/false did not become a decoder: exit code 1");
}

}  // namespace
}  // namespace annulus::server
