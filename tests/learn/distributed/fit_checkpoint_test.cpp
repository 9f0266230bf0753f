// The checkpoint that keeps nothing.
#include "annulus/learn/distributed/fit_checkpoint.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(FitCheckpoint, NoneKeepsNothingAndFindsNothing) {
  FitCheckpoint& none = FitCheckpoint::none();
  none.keep_accuracy(0.5);
  none.keep_training({1, 0.5, 0.5}, false, {});
  none.keep_state({1, 0.5, 0.5}, {});
  EXPECT_FALSE(none.find_accuracy().has_value());
  EXPECT_FALSE(none.find_training({}).has_value());
  EXPECT_FALSE(none.find_state({}).has_value());
  EXPECT_FALSE(none.state_is_due());
}

}  // namespace
}  // namespace annulus
