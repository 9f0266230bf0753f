// Votes of nearest neighbours.
#include <gtest/gtest.h>

#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(Methods, NeighboursVoteAndOfEqualsTheFirstClassWins) {
  // One row a class: the nearest alone.
  const LabelledExamples one{at_degrees({0, 60}), {0, 1}, 2};
  EXPECT_EQ(answers("knn", one, at_degrees({10, 40}).view()), (Classes{0, 1}));
  // Two examples per class: at 30 degrees one vote each, although class 1 is nearer.
  const LabelledExamples two{at_degrees({-170, 0, 40, 90}), {0, 0, 1, 1}, 2};
  EXPECT_EQ(answers("knn", two, at_degrees({30, 60}).view()), (Classes{0, 1}));
  // Three examples per class: two votes beat the nearest.
  const LabelledExamples three{at_degrees({20, -20, 180, 1, 120, 150}), {0, 0, 0, 1, 1, 1}, 2};
  EXPECT_EQ(answers("knn", three, at_degrees({0}).view()), Classes{0});
}

}  // namespace
}  // namespace annulus
