// Frames of videos as examples: which are chosen, how they are named, what they show; videos told by content.
#include "annulus/store/images/video_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/store/images/example_image.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/vision/video/video_type.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

fs::path fixture(const std::string& name) { return fs::path(ANNULUS_TEST_DATA) / "videos" / name; }

ImageListOptions every(double seconds) {
  ImageListOptions options;
  options.frames.every = seconds;
  return options;
}

class VideoFrames : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads_videos()) GTEST_SKIP() << "this build reads no videos";
  }
  // A folder a class: a video whose name says it is a photo, a video, a photo, and a file that is neither.
  void make_folder() {
    for (const char* const name : {"a", "b"}) fs::create_directories(folder_ / name);
    fs::copy_file(fixture("scenes.mp4"), folder_ / "a/clip.jpg");
    fs::copy_file(fixture("scenes.webm"), folder_ / "b/clip.webm");
    fs::copy_file(fs::path(ANNULUS_TEST_DATA) / "photos/pixel.gif", folder_ / "b/photo.gif");
    fs::copy_file(fixture("sound.mp4"), folder_ / "b/sound.mp4");
  }
  Names names_of(const ImageList& list) const {
    Names names;
    for (const std::string& path : list.paths) names.push_back(path.substr(folder_.path().string().size() + 1));
    return names;
  }
  ScratchFolder folder_;
};

TEST_F(VideoFrames, OneInEachPeriod) {
  make_folder();
  const ImageList list = list_images(folder_.path(), every(1));
  EXPECT_EQ(names_of(list), (Names{"a/clip.jpg#t=0", "a/clip.jpg#t=1", "a/clip.jpg#t=2", "b/clip.webm#t=0",
                                   "b/clip.webm#t=1", "b/clip.webm#t=2", "b/photo.gif"}));
  EXPECT_EQ(list.class_names, (Names{"a", "b"}));
  EXPECT_EQ(list.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(list.groups, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_TRUE(std::any_of(list.warnings.begin(), list.warnings.end(), [](const std::string& warning) {
    return warning.find("sound.mp4: the video cannot be read: it holds no pictures") != std::string::npos;
  }));
  EXPECT_EQ(list_images(folder_ / "a/clip.jpg", every(0.25)).paths.size(), 12U);
  EXPECT_EQ(list_images(folder_ / "a/clip.jpg", every(100)).paths.size(), 1U);
}

TEST_F(VideoFrames, OneInEachScene) {
  ImageListOptions options;
  options.frames.scenes = true;
  for (const char* const name : {"scenes.mp4", "scenes.avi", "scenes.webm", "scenes.mkv", "scenes.ts"}) {
    const std::string file = fixture(name).string();
    EXPECT_EQ(list_images(file, options).paths, (Names{file + "#t=0", file + "#t=1", file + "#t=2"})) << name;
  }
}

TEST_F(VideoFrames, WithoutBeingWantedVideosAreNoImages) {
  make_folder();
  const ImageList list = list_images(folder_.path());
  EXPECT_EQ(names_of(list), (Names{"a/clip.jpg", "b/photo.gif"}));
  expect_error(ErrorKind::kFormat, "found a video", [&] { ExampleImages({}).open(list.paths[0]).image(); });
}

TEST_F(VideoFrames, AFrameIsAnExampleOfItsOwn) {
  ExampleImages images({});
  const std::string file = fixture("scenes.mp4").string();
  const ExampleImage frame = images.open(file + "#t=1.5");
  const Image expected = open_video(file)->at(1.5);
  const Image found = frame.image();
  ASSERT_EQ(found.width, expected.width);
  EXPECT_EQ(std::memcmp(found.pixels.get(), expected.pixels.get(), 3 * 64 * 48), 0);
  EXPECT_NE(frame.sha256(), images.open(file + "#t=1.4").sha256());
  const Image box = images.open(file + "#t=1.5&xywh=10,10,5,6").image();
  EXPECT_EQ(box.width, 5U);
  EXPECT_EQ(box.height, 6U);
  const std::string bytes = content_of(fixture("scenes.mp4"));
  EXPECT_EQ(file_sha256(file), sha256_hex(std::as_bytes(std::span(bytes))));
  expect_error(ErrorKind::kIo, "none.mp4", [&] { images.open((folder_ / "none.mp4").string() + "#t=1"); });
}

TEST_F(VideoFrames, AreBounded) {
  ImageListOptions options = every(0.1);
  options.frames.max_frames = 20;
  expect_error(ErrorKind::kInput, "expected at most 20 frames of a video",
               [&] { list_images(fixture("scenes.mp4"), options); });
  expect_error(ErrorKind::kFormat, "sound.mp4: the video cannot be read",
               [&] { list_images(fixture("sound.mp4"), every(1)); });
  EXPECT_FALSE(is_video_file(folder_ / "none.mp4"));
}

}  // namespace
}  // namespace annulus
