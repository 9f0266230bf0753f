// SimpleShot: the nearest prototype of centred features.
#include <gtest/gtest.h>

#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

TEST(Methods, SimpleShotNamesEvenTheCentre) {
  const LabelledExamples support{at_degrees({0, 0}), {0, 1}, 2};
  EXPECT_EQ(answers("simpleshot", support, at_degrees({0}).view()), Classes{0});
}

}  // namespace
}  // namespace annulus
