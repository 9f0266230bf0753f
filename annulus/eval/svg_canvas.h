// The parts of which plots are drawn: colours, marks and texts as SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace annulus {

// How large a plot is and where it will be seen.
struct PlotStyle {
  double width = 760.0;
  double height = 400.0;
  double font_size = 14.0;
  bool in_page = false;     // colours are the page's CSS variables and the title is the page's; else a picture on white
  std::string id = "plot";  // unique in a page
};

enum class Ink { kText, kMuted, kGrid, kPaper, kGood, kBad };

// A name of CSS or a hexadecimal number, as the style asks.
std::string ink_colour(Ink ink, const PlotStyle& style);
// Series differ by colour, by mark and by dashes, so that none is needed alone. `series` counts from 0 and may be any.
std::string series_colour(std::size_t series, const PlotStyle& style);
// ":root" blocks that define the variables: light, and dark with `dark`.
std::string colour_variables(bool dark);

// The mark of a series around (0, 0), about 8 units wide.
std::string series_mark(std::size_t series, const PlotStyle& style);
// stroke-dasharray of a series; empty: an unbroken line.
std::string series_dashes(std::size_t series);

// Text for XML and HTML, in element or attribute; what no XML may hold (control characters, broken UTF-8) becomes
// U+FFFD.
std::string escape_xml(std::string_view text);
// At most `most` characters, the last an ellipsis where some were left out. Never cuts inside a UTF-8 character.
std::string shorten(std::string_view text, std::size_t most);
// Characters, not bytes.
std::size_t text_length(std::string_view text);
// About how wide a text is drawn, in units of a plot; errs on the wide side.
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
