// The frame of every page: one file that loads nothing.
#pragma once

#include <string>

namespace annulus {

// A whole document around `body`, which goes into <main>; title and heading are plain text.
std::string html_page(const std::string& title, const std::string& heading, const std::string& body);

}  // namespace annulus
