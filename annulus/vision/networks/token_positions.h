// The positions of tokens as a checkpoint has them: a learnt table, or waves that rotate queries and keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/networks/position_table.h"
#include "annulus/vision/networks/tensor_fills.h"

namespace annulus {

// The table NAME, resized to grid x grid patches: `class_rows` rows (1 or 0) and then the patches', each of `width`
// values. A table of another shape becomes a problem of `tensors`; a resizing is told in `notes`.
Fill stored_positions(EncoderTensors& tensors, const std::string& name, std::int64_t class_rows, std::int64_t grid,
                      std::int64_t width, PositionResize how, std::vector<std::string>& notes);

// The tables of rotary positions for every token and every dimension of every head.
struct RotaryTables {
  std::vector<float> cosine;          // tokens x width
  std::vector<float> sine;            // the same, with the sign of its partner
  std::vector<std::int64_t> partner;  // of each dimension: the one it is rotated with
};

// x -> x * cosine + x[partner] * sine. `front` tokens before the patches stay as they are. The patches' centres lie
// from -1 to 1; `periods` are the wave lengths of a quarter of a head's dimensions, first along rows, then along
// columns.
RotaryTables rotary_tables(std::int64_t front, std::int64_t grid, std::int64_t width, int heads,
                           const std::vector<float>& periods);
// Wave lengths from 1 to nearly 100, as DINOv3 has them.
std::vector<float> usual_periods(std::int64_t head_width);

}  // namespace annulus
