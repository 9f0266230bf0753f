// The weights of antialiased resizing, the same values as Pillow's.
#pragma once

#include <cstddef>

#include "annulus/kernels/resample.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

// The weights of positions [first, first + count) of an axis of `out_size` pixels from `in_size` pixels. Shrinking
// widens the filter by the same factor. Cost and memory: about 4 * in_size * count / out_size weights for bicubic
// shrinking.
ResampleAxis make_resample_axis(std::size_t in_size, std::size_t out_size, std::size_t first, std::size_t count,
                                Interpolation interpolation);

}  // namespace annulus
