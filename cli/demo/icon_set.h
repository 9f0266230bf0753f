// Icon collections in Iconify's JSON format: drawings by name, with aliases.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace annulus {

struct IconSet {
  std::map<std::string, std::string> drawings;  // name -> a complete SVG text; aliases are resolved
};

// Throws Error{kFormat} unless `text` is a collection. An alias that leads nowhere, or in a circle, is left out.
IconSet parse_icon_set(std::string_view text, const std::string& source);

}  // namespace annulus
