// The files of the page that models are exported with (share/web), which the library carries within itself.
#pragma once

#include <span>
#include <string_view>

namespace annulus {

struct WebFile {
  std::string_view name;
  std::string_view text;
};

std::span<const WebFile> web_files();

}  // namespace annulus
