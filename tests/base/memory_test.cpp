// Memory of matrices: zeros, aligned, on either side of the size from which it is mapped.
#include "annulus/base/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <span>

namespace annulus {
namespace {

TEST(Memory, ComesAsAlignedZerosThatCanBeWritten) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4095}, (std::size_t{4} << 20U) - 1, (std::size_t{9} << 20U) + 3}) {
    for (int turn = 0; turn < 2; ++turn) {
      const LargeMemory* place = nullptr;
      void* const start = take_memory(bytes, place);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(start) % 64, 0U) << bytes;
      const std::span<unsigned char> all(static_cast<unsigned char*>(start), bytes);
      EXPECT_EQ(std::count(all.begin(), all.end(), 0), static_cast<std::ptrdiff_t>(bytes)) << bytes;
      std::fill(all.begin(), all.end(), static_cast<unsigned char>(7));
      release_memory(start, bytes, place);
    }
  }
}

TEST(Memory, TooMuchIsRejected) {
  const LargeMemory* place = nullptr;
  EXPECT_THROW(take_memory(std::numeric_limits<std::size_t>::max() / 4, place), std::bad_alloc);
}

}  // namespace
}  // namespace annulus
