// Inspects image files: whether they can be read, their size, their look.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/audit/image_facts.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// The properties of each file, or box in a file, in the order given. One that cannot be read or decoded has an `error`
// instead of throwing. Memory: one image per thread. Throws Error{kCancelled} when progress asks to stop.
std::vector<ImageFacts> inspect_images(std::span<const std::string> paths, const DecodeOptions& options, int threads,
                                       const ProgressCallback& progress = {});

}  // namespace annulus
