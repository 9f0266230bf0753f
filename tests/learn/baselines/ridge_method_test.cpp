// Ridge regression as a method.
#include <gtest/gtest.h>

#include "annulus/learn/baselines/method.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(Methods, RidgeWeighsAllRows) {
  // With x = +-e1 and targets +-1, (x x^T + 1) a = y gives w = 2 / 3 along e1 for the class at 0 degrees.
  const LabelledExamples support{at_degrees({0, 180}), {0, 1}, 2};
  EXPECT_EQ(answers("ridge", support, at_degrees({80, 100, -80, -100}).view()), (Classes{0, 1, 0, 1}));
}

}  // namespace
}  // namespace annulus
