// Tip-Adapter's cache of training examples.
#include <gtest/gtest.h>

#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(Methods, CacheAddsUpTheAffinitiesOfAClass) {
  // exp(-5.5 (1 - cos 20)) = 0.72, twice, against exp(-5.5 (1 - cos 10)) = 0.92.
  const LabelledExamples support{at_degrees({20, -20, 10, 180}), {0, 0, 1, 1}, 2};
  EXPECT_EQ(answers("cache", support, at_degrees({0}).view()), Classes{0});
  // exp(-5.5 (1 - cos 60)) = 0.06, twice, against the same 0.92.
  const LabelledExamples far{at_degrees({60, -60, 10, 180}), {0, 0, 1, 1}, 2};
  EXPECT_EQ(answers("cache", far, at_degrees({0}).view()), Classes{1});
}

}  // namespace
}  // namespace annulus
