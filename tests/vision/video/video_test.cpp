// Frames of every container: their times and pixels, in order and at a moment; cut, damaged and lying files.
#include "annulus/vision/video/video.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "annulus/vision/video/video_type.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string fixture(const std::string& name) { return content_of(std::string(ANNULUS_TEST_DATA) + "/videos/" + name); }

VideoBytes bytes_of(const std::string& file) {
  return {[&file](std::uint64_t offset, std::span<std::byte> out) {
            if (offset >= file.size()) return std::size_t{0};
            const std::size_t count = std::min<std::size_t>(out.size(), file.size() - offset);
            std::memcpy(out.data(), file.data() + offset, count);
            return count;
          },
          file.size()};
}

// Red, green and blue for a second each; colours of videos are rounded.
void expect_scene(const Image& image, double seconds, const std::string& what) {
  constexpr std::array<std::array<int, 3>, 3> kColours = {{{254, 0, 0}, {0, 160, 0}, {0, 0, 254}}};
  const auto& colour = kColours[std::min<std::size_t>(2, static_cast<std::size_t>(seconds + 1e-6))];
  const std::uint8_t* const corner = image.pixels.get() + 3 * (image.width * image.height - 1);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(corner[c], colour[c], 12) << what << " at " << seconds;
}

class Video : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads_videos()) GTEST_SKIP() << "this build reads no videos";
  }
};

TEST_F(Video, FramesComeInOrderWithTheirTimes) {
  for (const char* const name : {"scenes.mp4", "scenes.avi", "scenes.webm", "scenes.mkv", "scenes.ts"}) {
    const std::string file = fixture(name);
    VideoReader video(bytes_of(file), {}, name);
    const std::vector<double> times = video.frame_times();
    ASSERT_EQ(times.size(), 30U) << name;
    std::size_t count = 0;
    while (const auto frame = video.next()) {
      ASSERT_LT(count, times.size()) << name;
      EXPECT_NEAR(frame->seconds, static_cast<double>(count) / 10, 0.002) << name;
      EXPECT_NEAR(frame->seconds, times[count], 1e-6) << name;
      EXPECT_EQ(frame->image.width, 64U);
      EXPECT_EQ(frame->image.height, 48U);
      expect_scene(frame->image, frame->seconds, name);
      ++count;
    }
    EXPECT_EQ(count, times.size()) << name;
    EXPECT_FALSE(video.next()) << name;
  }
}

// Whatever was read before, back and forth: the bits are those of reading in order.
TEST_F(Video, AMomentHasTheSamePixelsWhateverWasReadBefore) {
  for (const char* const name : {"scenes.mp4", "scenes.avi", "scenes.webm", "scenes.mkv", "scenes.ts"}) {
    const std::string file = fixture(name);
    VideoReader in_order(bytes_of(file), {}, name);
    VideoLimits limits;
    limits.seek_beyond = 0.15;
    VideoReader anyhow(bytes_of(file), limits, name);
    std::vector<VideoFrame> frames;
    while (auto frame = in_order.next()) frames.push_back(std::move(*frame));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const VideoFrame& frame = frames[i * 7 % frames.size()];
      const Image image = anyhow.at(frame.seconds);
      EXPECT_EQ(std::memcmp(image.pixels.get(), frame.image.pixels.get(), 3 * 64 * 48), 0)
          << name << " " << frame.seconds;
    }
    expect_error(ErrorKind::kFormat, std::string(name) + ": the video cannot be read: it has no frame at 99.000 s",
                 [&] { anyhow.at(99); });
    expect_scene(anyhow.at(0), 0, name);
  }
}

TEST_F(Video, IsTurnedAsItsCameraWasHeld) {
  const std::string file = fixture("turned.mov");
  VideoReader video(bytes_of(file), {}, "turned.mov");
  const Image image = video.at(1.5);
  EXPECT_EQ(image.width, 48U);
  EXPECT_EQ(image.height, 64U);
}

std::string complaint(const std::string& file, const VideoLimits& limits = {}) {
  try {
    VideoReader video(bytes_of(file), limits, "clip.mp4");
    while (video.next()) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat) << error.what();
    const std::string sentence = error.what();
    EXPECT_TRUE(sentence.starts_with("clip.mp4: the video cannot be read: ")) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
    return sentence;
  }
  return {};
}

TEST_F(Video, WhatHoldsNoPicturesIsRejectedInASentence) {
  EXPECT_NE(complaint(fixture("sound.mp4")).find("it holds no pictures"), std::string::npos);
  EXPECT_FALSE(complaint(fixture("cut.mp4")).empty());  // its index was at the end
  EXPECT_FALSE(complaint("").empty());
  EXPECT_FALSE(complaint("text").empty());
  // A list of addresses is no video: nothing is fetched.
  EXPECT_FALSE(complaint("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n").empty());
  VideoLimits small;
  small.max_pixels = 1000;
  EXPECT_FALSE(complaint(fixture("scenes.mp4"), small).empty());
  // The part of a stream that there is.
  EXPECT_EQ(complaint(fixture("cut.ts")), "");
}

TEST_F(Video, CutAndDamagedFilesEndInFramesOrASentence) {
  for (const char* const name : {"scenes.mp4", "scenes.avi", "scenes.webm", "scenes.mkv", "scenes.ts"}) {
    const std::string whole = fixture(name);
    for (std::size_t part = 1; part < 6; ++part) complaint(whole.substr(0, whole.size() * part / 6));
    for (std::size_t i = 0; i < 12; ++i) {
      std::string damaged = whole;
      for (std::size_t at = i; at < damaged.size(); at += 97 + i) damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      complaint(damaged);
    }
  }
}

}  // namespace
}  // namespace annulus
