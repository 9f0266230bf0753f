// Looks at image files one by one: can they be read, how large are they, what do they look like.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/image_facts.h"
#include "annulus/vision/image.h"

namespace annulus {

// Facts of each file, in the order given. A file that cannot be read or decoded is not an error but its `trouble`.
// Memory: an image a thread. Throws Error{kCancelled} when told to stop.
std::vector<ImageFacts> inspect_images(std::span<const std::string> paths, const DecodeOptions& options, int threads,
                                       const ProgressCallback& progress = {});

}  // namespace annulus
