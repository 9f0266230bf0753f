// Small pictures of image files, for pages.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "annulus/base/progress.h"

namespace annulus {

inline constexpr std::size_t kMostPagePictures = 400;

// A function that gives a thumbnail of the image at a path as a data: URI, or nothing where it cannot be read or
// kMostPagePictures were read already. Each image is read once, however often it is shown. It throws Error{kCancelled}
// when told to stop.
std::function<std::optional<std::string>(const std::string& path)> page_pictures(const ProgressCallback& progress = {});

}  // namespace annulus
