// The colours have a contrast of at least 4.5 with their background, for texts and marks alike.
#include "annulus/report/plot/svg_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace annulus {
namespace {

struct Colour {
  const char* name;  // of the CSS variable
  const char* light;
  const char* dark;
};

constexpr std::array<Colour, 6> kInks = {{{"--ink", "#1b1f24", "#e8eaed"},
                                          {"--muted", "#57606a", "#a3adb8"},
                                          {"--grid", "#dde1e6", "#363d47"},
                                          {"--paper", "#ffffff", "#171b21"},
                                          {"--good", "#1a7f37", "#56d364"},
                                          {"--bad", "#c01c28", "#ff8a80"}}};
constexpr std::array<Colour, 10> kSeries = {{{"--series-0", "#c2410c", "#ff9a5c"},
                                             {"--series-1", "#1d65a6", "#6cb6ff"},
                                             {"--series-2", "#57606a", "#b4bec9"},
                                             {"--series-3", "#15783b", "#5ddc8a"},
                                             {"--series-4", "#7a3db8", "#c9a0ff"},
                                             {"--series-5", "#0f6f6a", "#4fd1c5"},
                                             {"--series-6", "#b0157f", "#ff86c8"},
                                             {"--series-7", "#7d5210", "#e3b75f"},
                                             {"--series-8", "#4b54b5", "#a5b0ff"},
                                             {"--series-9", "#626b00", "#cfd862"}}};
constexpr std::array<const char*, 4> kDashes = {"", "7 4", "2 3", "9 3 2 3"};

std::string in_style(const Colour& colour, const PlotStyle& style) {
  return style.in_page ? fmt::format("var({})", colour.name) : colour.light;
}

// Bytes of the UTF-8 character that starts `text`, 0 when it is broken or may not be in XML.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return (lead >= 0x20 && lead != 0x7F) || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : (lead & 0xF0U) == 0xE0      ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  const bool no_character = lead == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
  return overlong || beyond || no_character ? 0 : length;
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80; }

}  // namespace

std::string ink_colour(Ink ink, const PlotStyle& style) {
  return in_style(kInks[static_cast<std::size_t>(ink)], style);
}

std::string series_colour(std::size_t series, const PlotStyle& style) {
  return in_style(kSeries[series % kSeries.size()], style);
}

std::string colour_variables(bool dark) {
  std::string text;
  for (const Colour& colour : kInks) text += fmt::format("{}:{};", colour.name, dark ? colour.dark : colour.light);
  for (const Colour& colour : kSeries) text += fmt::format("{}:{};", colour.name, dark ? colour.dark : colour.light);
  return text;
}

std::string series_mark(std::size_t series, const PlotStyle& style) {
  static constexpr std::array<const char*, 7> kShapes = {
      R"(<circle r="4.5")",
      R"(<rect x="-4" y="-4" width="8" height="8")",
      R"(<path d="M0-5.2 5 4H-5Z")",
      R"(<path d="M0-5.6 5.6 0 0 5.6-5.6 0Z")",
      R"(<path d="M0 5.2 5-4H-5Z")",
      R"(<path d="M-1.6-5h3.2v3.4H5v3.2H1.6V5h-3.2V1.6H-5v-3.2h3.4Z")",
      R"(<path d="M0-5.4 5.1-1.7 3.2 4.4H-3.2L-5.1-1.7Z")",
  };
  return fmt::format(R"({} fill="{}" stroke="{}"/>)", kShapes[series % kShapes.size()], series_colour(series, style),
                     ink_colour(Ink::kPaper, style));
}

std::string series_dashes(std::size_t series) { return kDashes[series % kDashes.size()]; }

std::string escape_xml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    switch (length == 1 ? text[i] : 'x') {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += length == 0 ? "\uFFFD" : text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return escaped;
}

std::size_t text_length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shorten(std::string_view text, std::size_t most) {
  if (text_length(text) <= most) return std::string(text);
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && characters++ == most - 1) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

double text_width(std::string_view text, double font_size) {
  double width = 0.0;
  for (const char byte : text) {
    if (!starts_character(byte)) continue;
    // Three and four bytes: East Asian characters and emoji are a whole em wide.
    const bool whole =
        static_cast<unsigned char>(byte) >= 0xE3 || std::string_view("mwMW%@").find(byte) != std::string_view::npos;
    const bool slim = std::string_view("ijltfrI1 .,:;'|()[]!-").find(byte) != std::string_view::npos;
    width += whole ? 1.02 : slim ? 0.42 : 0.65;
  }
  return width * font_size;
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string draw_text(double x, double y, std::string_view text, Anchor anchor, const std::string& colour,
                      double font_size, double degrees, bool bold) {
  static constexpr std::array<const char*, 3> kAnchors = {"start", "middle", "end"};
  const std::string turn = degrees == 0.0 ? ""
                                          : fmt::format(R"svg( transform="rotate({} {} {})")svg", coordinate(degrees),
                                                        coordinate(x), coordinate(y));
  return fmt::format(R"svg(<text x="{}" y="{}" text-anchor="{}" fill="{}" font-size="{}"{}{}>{}</text>)svg",
                     coordinate(x), coordinate(y), kAnchors[static_cast<std::size_t>(anchor)], colour,
                     coordinate(font_size), bold ? R"( font-weight="bold")" : "", turn, escape_xml(text));
}

std::string draw_line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
                      std::string_view dashes) {
  return fmt::format(R"(<path d="M{} {}L{} {}" stroke="{}" stroke-width="{}" fill="none"{}/>)", coordinate(x1),
                     coordinate(y1), coordinate(x2), coordinate(y2), colour, coordinate(width),
                     dashes.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dashes));
}

}  // namespace annulus
