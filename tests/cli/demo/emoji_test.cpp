// Icon sets with aliases and mirrors; the emoji folder made from small sets in a cache of its own.
#include "cli/demo/emoji.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "annulus/base/error.h"
#include "annulus/store/images/image_file.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/vision/image/svg.h"
#include "cli/demo/icon_set.h"

namespace annulus {
namespace {

constexpr const char* kSet = R"({"prefix": "t", "width": 32, "height": 32,
  "icons": {"sun": {"body": "<rect width='8' height='8' fill='#f00'/>"}, "wide": {"body": "<path/>", "width": 64, "left": -4},
            "broken": {"body": "<rect"}},
  "aliases": {"star": {"parent": "sun", "hFlip": true}, "moon": {"parent": "star", "vFlip": true}, "turned": {"parent": "sun", "rotate": 1},
              "lost": {"parent": "nowhere"}, "round": {"parent": "round"}}})";

// The corner of a 32 x 32 picture that is red: 0 none, 1 top left, 2 top right, 3 bottom left, 4 bottom right.
int red_corner(const std::string& svg) {
  const Image image = decode_image(render_svg(svg, 32, "icon"), {}, "icon");
  const auto red = [&](std::size_t x, std::size_t y) { return image.pixels[3 * (y * 32 + x) + 1] == 0; };
  return red(2, 2) ? 1 : red(29, 2) ? 2 : red(2, 29) ? 3 : red(29, 29) ? 4 : 0;
}

TEST(IconSet, ResolvesAliasesSizesAndTurns) {
  const IconSet set = parse_icon_set(kSet, "test");
  EXPECT_EQ(set.drawings.size(), 6U);
  EXPECT_FALSE(set.drawings.contains("lost"));
  EXPECT_FALSE(set.drawings.contains("round"));
  EXPECT_EQ(red_corner(set.drawings.at("sun")), 1);
  EXPECT_EQ(red_corner(set.drawings.at("star")), 2);
  EXPECT_EQ(red_corner(set.drawings.at("moon")), 4);
  EXPECT_EQ(red_corner(set.drawings.at("turned")), 2);
  EXPECT_NE(set.drawings.at("wide").find("viewBox=\"-4 0 64 32\""), std::string::npos) << set.drawings.at("wide");
}

TEST(IconSet, RejectsWhatIsNoCollection) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"icons": {"a": {}}})", R"({"icons": {"a": {"body": 3}}})", R"({"icons": {"a": 1}})"}) {
    EXPECT_THROW(parse_icon_set(text, "test"), Error) << text;
  }
}

TEST(Emoji, DrawsWhatAllVendorsHaveAndGoesOnWhereItStopped) {
  const auto folder = std::filesystem::temp_directory_path() / ("annulus_emoji_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  // A fetch script that knows two vendors stands in for the real one.
  std::filesystem::create_directories(folder / "share");
  std::ofstream(folder / "share" / "fetch") << "#!/bin/sh\necho \"" << folder.string() << "/$1\"\n";
  std::filesystem::permissions(folder / "share" / "fetch", std::filesystem::perms::owner_all);
  setenv("ANNULUS_SHARE", (folder / "share").c_str(), 1);
  for (const char* vendor : {"noto", "twemoji"}) {
    const auto set = folder / (std::string("emoji-") + vendor);
    std::filesystem::create_directories(set);
    std::ofstream(set / "icons.json") << kSet;
    std::ofstream(set / "info.json")
        << R"({"name": "The Set", "author": {"name": "Somebody"}, "license": {"title": "A", "spdx": "CC0-1.0"}})";
  }
  std::ofstream(folder / "emoji-twemoji" / "icons.json")
      << R"({"icons": {"sun": {"body": "<rect/>"}, "broken": {"body": "<rect"}, "../evil": {"body": "<path/>"}}})";

  EmojiOptions options;
  options.side = 24;
  options.vendors = {"noto", "twemoji"};
  const EmojiReport first = make_emoji(folder / "out", options);
  EXPECT_EQ(first.classes, 2U);
  EXPECT_EQ(first.drawn, 2U);
  ASSERT_EQ(first.skipped.size(), 2U);
  EXPECT_EQ(first.skipped[0].rfind("broken by noto could not be drawn:", 0), 0U) << first.skipped[0];
  const ImageList list = list_images(folder / "out");
  EXPECT_EQ(list.paths.size(), 2U);
  EXPECT_EQ(read_image(folder / "out" / "sun" / "noto.png").width, 24U);
  std::ifstream stream(folder / "out" / "LICENSES.md");
  const std::string licences((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  EXPECT_NE(licences.find("| twemoji | The Set | Somebody | CC0-1.0 |"), std::string::npos) << licences;

  std::filesystem::remove(folder / "out" / "sun" / "twemoji.png");
  const EmojiReport second = make_emoji(folder / "out", options);
  EXPECT_EQ(second.drawn, 1U);
  EXPECT_EQ(second.found, 1U);
  options.vendors = {"noto", "no-such-vendor"};
  EXPECT_THROW(make_emoji(folder / "out", options), Error);
  unsetenv("ANNULUS_SHARE");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace annulus
