// Random views of an image: what differs between them is what should not matter to a class.
#pragma once

#include <cstdint>

#include "annulus/base/random.h"
#include "annulus/vision/image/image.h"

namespace annulus {

// View `number` of an image: a crop of 35 to 100 % of its area whose sides have a ratio from 3/4 to 4/3 of the image's
// own, mirrored every other time, with brightness, contrast and saturation each changed by a factor from 0.6 to 1.4. A
// pure function of its arguments.
Image random_view(const Image& image, const RandomStream& stream, std::uint64_t number);

}  // namespace annulus
