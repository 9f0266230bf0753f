// Views of a photo: the photo itself, its mirror image, and random crops of it in other colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/vision/image/image.h"

namespace annulus {

enum class ViewKind { kWhole, kMirrored, kRandom };

struct PhotoView {
  ViewKind kind = ViewKind::kWhole;
  std::uint64_t number = 0;  // of a random view
  std::uint64_t seed = 0;    // likewise

  bool operator==(const PhotoView&) const = default;
};

// Which views of every photo are encoded. The first is always the photo itself.
struct PhotoViews {
  ViewKind others = ViewKind::kWhole;  // kWhole: there are none
  std::size_t count = 1;               // of views in all
  std::uint64_t seed = 0;              // of random ones

  bool any() const { return count > 1; }
  bool operator==(const PhotoViews&) const = default;
};

inline constexpr std::size_t kMostViews = 64;

// "none", "flip" (the photo and its mirror image), "N" (the photo and N - 1 random views) or "N:SEED". Throws
// Error{kUsage} for anything else.
PhotoViews views_from_text(std::string_view text);
std::string to_text(const PhotoViews& views);

// The views one by one.
std::vector<PhotoView> list_of(const PhotoViews& views);
// Different for different views; empty for the photo itself.
std::string to_text(const PhotoView& view);

// What a view shows. Random views are those of random_view, with random numbers that depend on the seed and on the
// pixels alone: a copy of a photo has the same views.
Image view_of(const Image& image, const PhotoView& view);

}  // namespace annulus
