// The parts of plots: colours, marks and texts as SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace annulus {

// The size of a plot and where it is shown.
struct PlotStyle {
  double width = 760.0;
  double height = 400.0;
  double font_size = 14.0;
  bool in_page = false;     // uses the page's CSS variables and title; else a picture on white
  std::string id = "plot";  // unique in a page
};

enum class Ink { kText, kMuted, kGrid, kPaper, kGood, kBad };

// A CSS variable or a hexadecimal colour, depending on the style.
std::string ink_colour(Ink ink, const PlotStyle& style);
// Series differ by colour, mark and dashes, so that no one of these is needed alone. `series` may be any number from 0.
std::string series_colour(std::size_t series, const PlotStyle& style);
// ":root" blocks that define the variables: light, and dark with `dark`.
std::string colour_variables(bool dark);

// The mark of a series around (0, 0), about 8 units wide.
std::string series_mark(std::size_t series, const PlotStyle& style);
// stroke-dasharray of a series; empty: a solid line.
std::string series_dashes(std::size_t series);

// Text escaped for XML and HTML, in elements and attributes; what XML cannot contain (control characters, invalid
// UTF-8) becomes U+FFFD.
std::string escape_xml(std::string_view text);
// At most `most` characters, the last one an ellipsis if some were left out. Never truncates inside a UTF-8 character.
std::string shorten(std::string_view text, std::size_t most);
// Characters, not bytes.
std::size_t text_length(std::string_view text);
// An upper estimate of the width of a text, in units of a plot.
double text_width(std::string_view text, double font_size);

// Two decimals at most, without trailing zeros.
std::string coordinate(double value);

enum class Anchor { kStart, kMiddle, kEnd };
// One line of text with its baseline at (x, y); turned by `degrees` around that point.
std::string draw_text(double x, double y, std::string_view text, Anchor anchor, const std::string& colour,
                      double font_size, double degrees = 0.0, bool bold = false);
std::string draw_line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
                      std::string_view dashes = {});

}  // namespace annulus
