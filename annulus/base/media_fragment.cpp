// Writes and reads media fragments.
#include "annulus/base/media_fragment.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace annulus {
namespace {

constexpr std::string_view kTime = "t=";
constexpr std::string_view kBox = "xywh=";
constexpr std::string_view kPercent = "percent:";
constexpr std::string_view kPixel = "pixel:";
constexpr double kMost = 1e6;

std::string number_text(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// A plain number at the start of the text, which is removed.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<MediaBox> take_box(std::string_view& text) {
  MediaBox box;
  box.percent = take(text, kPercent);
  if (!box.percent) take(text, kPixel);
  const std::array<double*, 4> places = {&box.x, &box.y, &box.width, &box.height};
  for (double* const place : places) {
    if (place != places.front() && !take(text, ",")) return std::nullopt;
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    *place = *number;
  }
  return is_box(box) ? std::optional(box) : std::nullopt;
}

}  // namespace

bool is_box(const MediaBox& box) {
  for (const double value : {box.x, box.y, box.width, box.height}) {
    if (!std::isfinite(value) || std::abs(value) > kMost) return false;
  }
  return box.width > 0 && box.height > 0;
}

std::string to_text(const MediaFragment& fragment) {
  std::string text = fragment.file;
  if (fragment.seconds) text += fmt::format("#{}{}", kTime, number_text(*fragment.seconds, 8));
  if (fragment.box) {
    const MediaBox& box = *fragment.box;
    const int digits = box.percent ? 6 : 8;
    text += fmt::format("{}{}{}{},{},{},{}", fragment.seconds ? '&' : '#', kBox, box.percent ? kPercent : "",
                        number_text(box.x, digits), number_text(box.y, digits), number_text(box.width, digits),
                        number_text(box.height, digits));
  }
  return text;
}

MediaFragment parse_media_fragment(std::string_view text) {
  MediaFragment whole{std::string(text)};
  const std::size_t mark = text.rfind('#');
  if (mark == std::string_view::npos || mark == 0) return whole;
  MediaFragment fragment{std::string(text.substr(0, mark))};
  std::string_view rest = text.substr(mark + 1);
  if (take(rest, kTime)) {
    fragment.seconds = take_number(rest);
    if (!fragment.seconds || *fragment.seconds < 0 || *fragment.seconds > kMost) return whole;
    if (rest.empty()) return fragment;
    if (!take(rest, "&")) return whole;
  }
  if (!take(rest, kBox)) return whole;
  fragment.box = take_box(rest);
  return fragment.box && rest.empty() ? fragment : whole;
}

}  // namespace annulus
