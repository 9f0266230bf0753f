// Names of parts of files: "photo.jpg#xywh=10,20,30,40" and "clip.mp4#t=12.5", as W3C's Media Fragments write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace annulus {

// A rectangle in a picture that stands upright: of its pixels, or of hundredths of its sides.
struct MediaBox {
  double x = 0;  // of the left edge
  double y = 0;  // of the upper edge
  double width = 0;
  double height = 0;
  bool percent = false;  // sides of the picture are 100; else pixels

  bool operator==(const MediaBox&) const = default;
};

// A whole file, a moment of a video, a box in a picture, or a box in a moment.
struct MediaFragment {
  std::string file;
  std::optional<double> seconds{};  // from the first frame of a video
  std::optional<MediaBox> box{};

  bool whole() const { return !seconds && !box; }
  bool operator==(const MediaFragment&) const = default;
};

// Whether the numbers can be those of a box: finite, at most a million, width and height above 0.
bool is_box(const MediaBox& box);

// "FILE", "FILE#t=12.5", "FILE#xywh=10,20,30,40", "FILE#xywh=percent:10,20,30,40" or "FILE#t=12.5&xywh=...". Numbers
// have eight digits, those of percents six.
std::string to_text(const MediaFragment& fragment);

// Reads to_text's form. Any other text is the name of a whole file, also one with '#' in it.
MediaFragment parse_media_fragment(std::string_view text);

}  // namespace annulus
