// Names of parts of files: written, read back, and names that only look like one.
#include "annulus/base/media_fragment.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace annulus {
namespace {

TEST(MediaFragment, IsReadBackAsItWasWritten) {
  const std::vector<std::pair<MediaFragment, std::string>> cases = {
      {{"a.jpg"}, "a.jpg"},
      {{"a.jpg", {}, MediaBox{10, 20.5, 30, 40}}, "a.jpg#xywh=10,20.5,30,40"},
      {{"b c.jpg", {}, MediaBox{0, 12.5, 100, 0.25, true}}, "b c.jpg#xywh=percent:0,12.5,100,0.25"},
      {{"clip.mp4", 12.5}, "clip.mp4#t=12.5"},
      {{"clip.mp4", 0.0, MediaBox{-3, 0, 7, 8}}, "clip.mp4#t=0&xywh=-3,0,7,8"},
      {{"odd#name.jpg", {}, MediaBox{1, 2, 3, 4}}, "odd#name.jpg#xywh=1,2,3,4"},
  };
  for (const auto& [fragment, text] : cases) {
    EXPECT_EQ(to_text(fragment), text);
    EXPECT_EQ(parse_media_fragment(text), fragment) << text;
  }
  EXPECT_EQ(parse_media_fragment("a.jpg#xywh=pixel:1,2,3,4").box, (MediaBox{1, 2, 3, 4}));
}

TEST(MediaFragment, OtherTextIsTheNameOfAFile) {
  for (const char* const name :
       {"", "#", "#xywh=1,2,3,4", "a#b.jpg", "a.jpg#", "a.jpg#xywh=1,2,3", "a.jpg#xywh=1,2,3,4,5", "a.jpg#xywh=1,2,0,4",
        "a.jpg#xywh=1,2,3,4.jpg", "a.jpg#xywh=1,2,3,nan", "a.jpg#xywh=1,2,3,1e9", "a.jpg#t=-1", "a.jpg#t=1,2",
        "a.jpg#t=1&", "a.jpg#xywh=1,2,3,4&t=1", "a.jpg#xywh=em:1,2,3,4"}) {
    const MediaFragment fragment = parse_media_fragment(name);
    EXPECT_TRUE(fragment.whole()) << name;
    EXPECT_EQ(fragment.file, name);
  }
}

TEST(MediaFragment, NumbersAreShort) {
  EXPECT_EQ(to_text({"a", {}, MediaBox{100 * 0.29, 100.0 / 3, 1, 1, true}}), "a#xywh=percent:29,33.3333,1,1");
  EXPECT_EQ(to_text({"a", 1.0 / 3}), "a#t=0.33333333");
}

TEST(MediaFragment, BoxesHaveFiniteSides) {
  EXPECT_TRUE(is_box({0, 0, 1, 1}));
  EXPECT_FALSE(is_box({0, 0, 0, 1}));
  EXPECT_FALSE(is_box({0, 0, 1, -1}));
  EXPECT_FALSE(is_box({std::numeric_limits<double>::quiet_NaN(), 0, 1, 1}));
  EXPECT_FALSE(is_box({0, std::numeric_limits<double>::infinity(), 1, 1}));
}

}  // namespace
}  // namespace annulus
