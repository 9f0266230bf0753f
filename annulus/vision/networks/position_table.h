// The position table of a vision transformer, resized to another number of patches.
#pragma once

#include <span>
#include <vector>

namespace annulus {

// How the network's own code resizes its table; each is bicubic.
enum class PositionResize {
  kOffset,     // DINO, DINOv2: the ratio is (to + 0.1) / from, kernel a = -0.75
  kExact,      // MSN and others: the ratio is to / from, kernel a = -0.75
  kAntialias,  // DINOv2 with registers: the ratio is to / from, antialiased, kernel a = -0.5
};

// table: from x from positions of `width` values, row-major; the result is to x to of them.
std::vector<float> resize_positions(std::span<const float> table, int from, int to, int width, PositionResize how);

// True for a fixed two-dimensional sine-cosine table (class token first), which MoCo v3 stores.
bool is_sine_cosine_table(std::span<const float> table, int width);

}  // namespace annulus
