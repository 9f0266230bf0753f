// Draws SVG texts as PNG pictures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// `svg` scaled to fit width x height pixels on white, as the bytes of a PNG file. Nothing outside the text is ever
// loaded. Throws Error{kFormat} with librsvg's reason when the text is damaged or cannot be drawn (some need more
// memory than cairo grants a surface). Safe to call from several threads at once.
std::vector<std::byte> render_svg(std::string_view svg, std::size_t width, std::size_t height,
                                  const std::string& source);

// The same with side x side pixels.
std::vector<std::byte> render_svg(std::string_view svg, std::size_t side, const std::string& source);

}  // namespace annulus
