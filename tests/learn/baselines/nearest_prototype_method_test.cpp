// The nearest prototype, with and without centring.
#include <gtest/gtest.h>

#include "annulus/learn/calibration/calibration.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(Methods, NearestPrototypeTakesTheNearestAndSimpleShotTheNearestAfterCentring) {
  const LabelledExamples support{at_degrees({0, 20, 90}), {0, 1, 2}, 3};
  const Matrix<float> query = at_degrees({50});
  EXPECT_EQ(answers("ncm", support, query.view()), Classes{1});
  // Seen from the mean of the three, the row at 50 degrees lies towards the one at 90.
  EXPECT_EQ(answers("simpleshot", support, query.view()), Classes{2});
}

}  // namespace
}  // namespace annulus
