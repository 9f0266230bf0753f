// The studio's page, built by npm from studio/ and carried within the program (cmake/studio.cmake).
#pragma once

#include <string_view>

namespace annulus::server {

struct StudioPage {
  std::string_view html;
  std::string_view script;
  std::string_view style;
};

// Empty texts in a build without the page.
StudioPage studio_page();

}  // namespace annulus::server
