// Where matrices take their memory from: the heap, for large ones pages of the system, or another place if one is set.
#pragma once

#include <cstddef>

namespace annulus {

// A place for large matrices.
struct LargeMemory {
  void* (*take)(std::size_t bytes);  // zero bytes at a multiple of 64; null where it cannot: memory is tried then
  void (*release)(void* start, std::size_t bytes);
  void (*expect)(const void* start, std::size_t bytes);  // they will be read soon
};

// From now on, in the whole process, matrices of `least_bytes` or more are at `place`, which has to live on.
void set_large_memory(std::size_t least_bytes, const LargeMemory& place);

// `bytes` zero bytes at a multiple of 64, and where they are: null for the heap. Throws std::bad_alloc.
void* take_memory(std::size_t bytes, const LargeMemory*& place);
void release_memory(void* start, std::size_t bytes, const LargeMemory* place);

}  // namespace annulus
