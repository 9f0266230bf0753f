// Videos are told by their content.
#include "annulus/vision/video/video_type.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

bool told(const std::string& bytes) { return is_video(std::as_bytes(std::span(bytes))); }
std::string fixture(const std::string& name) { return content_of(std::string(ANNULUS_TEST_DATA) + "/" + name); }

TEST(VideoType, EveryContainerIsTold) {
  for (const char* const name :
       {"scenes.mp4", "scenes.avi", "scenes.webm", "scenes.mkv", "scenes.ts", "turned.mov", "sound.mp4"}) {
    const std::string whole = fixture(std::string("videos/") + name);
    EXPECT_TRUE(told(whole)) << name;
    EXPECT_TRUE(told(whole.substr(0, kVideoHeadBytes))) << name;
  }
}

TEST(VideoType, ImagesAndOtherFilesAreNone) {
  for (const char* const name : {"photos/smooth.heic", "photos/smooth.avif", "photos/animated.gif",
                                 "images/webp_animated.webp", "images/jpeg_444.jpg", "photos/lossy.jxl"}) {
    EXPECT_FALSE(told(fixture(name))) << name;
  }
  for (const char* const text : {"", "G", "GGGG", "RIFF", "plain text that goes on for a while", "RIFF1234WAVEfmt "}) {
    EXPECT_FALSE(told(text)) << text;
  }
}

TEST(VideoType, ABuildWithoutVideosNamesThePackages) {
  expect_error(ErrorKind::kFormat,
               "clip.mp4: this build of annulus cannot read videos: install the Debian packages libavformat-dev, "
               "libavcodec-dev and libswscale-dev and build it again",
               [] { reject_missing_videos("clip.mp4"); });
}

TEST(VideoType, NamesOfVideos) {
  EXPECT_TRUE(is_video_extension(".MP4"));
  EXPECT_TRUE(is_video_extension(".webm"));
  EXPECT_FALSE(is_video_extension(".jpg"));
  EXPECT_FALSE(is_video_extension("mp4"));
}

}  // namespace
}  // namespace annulus
