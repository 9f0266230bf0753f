// Reads and writes choices of views; makes views.
#include "annulus/vision/preprocess/photo_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/vision/preprocess/random_view.h"

namespace annulus {
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A number that stands for the pixels: eight bytes at a time, as FNV-1a mixes one.
std::uint32_t number_of_pixels(const Image& image) {
  constexpr std::uint64_t kOffset = 0xCBF29CE484222325U;
  constexpr std::uint64_t kPrime = 0x100000001B3U;
  std::uint64_t sum = kOffset;
  const auto mix = [&sum](std::uint64_t word) {
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 29U;
  };
  mix(image.width);
  mix(image.height);
  const std::size_t bytes = 3 * image.width * image.height;
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, image.pixels.get() + i, std::min(sizeof(word), bytes - i));
    mix(word);
  }
  return static_cast<std::uint32_t>(sum ^ (sum >> 32U));
}

Image copy_of(const Image& image) {
  Image copy = make_image(image.width, image.height);
  std::copy_n(image.pixels.get(), 3 * image.width * image.height, copy.pixels.get());
  return copy;
}

Image mirrored(const Image& image) {
  Image mirror = make_image(image.width, image.height);
  for (std::size_t y = 0; y < image.height; ++y) {
    const auto from = image.rows().row(y);
    const auto to = mirror.rows().row(y);
    for (std::size_t x = 0; x < image.width; ++x) {
      std::copy_n(from.data() + 3 * (image.width - 1 - x), 3, to.data() + 3 * x);
    }
  }
  return mirror;
}

}  // namespace

PhotoViews views_from_text(std::string_view text) {
  if (text == "none") return {};
  if (text == "flip") return {ViewKind::kMirrored, 2, 0};
  const std::size_t colon = text.find(':');
  const auto count = number_in(text.substr(0, colon));
  const auto seed =
      colon == std::string_view::npos ? std::optional<std::uint64_t>(0) : number_in(text.substr(colon + 1));
  if (!count || !seed || *count < 1 || *count > kMostViews) {
    fail_field(
        ErrorKind::kUsage, "views",
        "expected {} to be none, flip, or a number of views from 1 to {} with an optional seed (4 or 4:1), found "
        "\"{}\"",
        kMostViews, text);
  }
  if (*count == 1) return {};
  return {ViewKind::kRandom, static_cast<std::size_t>(*count), *seed};
}

std::string to_text(const PhotoViews& views) {
  if (!views.any()) return "none";
  if (views.others == ViewKind::kMirrored) return "flip";
  return views.seed == 0 ? std::to_string(views.count) : fmt::format("{}:{}", views.count, views.seed);
}

std::vector<PhotoView> list_of(const PhotoViews& views) {
  std::vector<PhotoView> list{PhotoView{}};
  for (std::size_t i = 1; i < views.count; ++i) list.push_back({views.others, i - 1, views.seed});
  return list;
}

std::string to_text(const PhotoView& view) {
  switch (view.kind) {
    case ViewKind::kMirrored:
      return "mirrored";
    case ViewKind::kRandom:
      return fmt::format("random {} of seed {}", view.number, view.seed);
    case ViewKind::kWhole:
      break;
  }
  return {};
}

Image view_of(const Image& image, const PhotoView& view) {
  switch (view.kind) {
    case ViewKind::kMirrored:
      return mirrored(image);
    case ViewKind::kRandom:
      return random_view(image, {view.seed, RandomUse::kSynthetic, number_of_pixels(image)}, view.number);
    case ViewKind::kWhole:
      break;
  }
  return copy_of(image);
}

}  // namespace annulus
