// Index ranges, and pieces of nearly equal size.
#pragma once

#include <cstddef>

namespace annulus {

// Indices [first, first + count).
struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Piece number `index` of `pieces` nearly equal ones.
inline Slice slice_of(std::size_t total, std::size_t pieces, std::size_t index) {
  const std::size_t first = total * index / pieces;
  return {first, total * (index + 1) / pieces - first};
}

}  // namespace annulus
