// Slices cover a whole without gaps or overlaps.
#include "annulus/base/slice.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(Slice, PiecesCoverTheWholeInOrderAndDifferByAtMostOne) {
  for (const std::size_t total : {0U, 1U, 7U, 64U, 1000U}) {
    for (const std::size_t pieces : {1U, 2U, 3U, 8U, 13U}) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < pieces; ++i) {
        const Slice piece = slice_of(total, pieces, i);
        EXPECT_EQ(piece.first, next);
        EXPECT_GE(piece.count, total / pieces);
        EXPECT_LE(piece.count, (total + pieces - 1) / pieces);
        next += piece.count;
      }
      EXPECT_EQ(next, total);
    }
  }
}

}  // namespace
}  // namespace annulus
