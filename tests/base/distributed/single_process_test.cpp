// A communicator of one member leaves all numbers as they are.
#include "annulus/base/distributed/single_process.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace annulus {
namespace {

TEST(SingleProcess, IsTheFirstOfOneAndLeavesNumbersAlone) {
  SingleProcess alone;
  EXPECT_EQ(alone.rank(), 0U);
  EXPECT_EQ(alone.size(), 1U);
  std::array<double, 2> numbers{1.5, -2.0};
  alone.sum(numbers);
  alone.largest(numbers);
  alone.start_sum(numbers)->wait();
  alone.start_largest(numbers)->wait();
  EXPECT_EQ(numbers, (std::array<double, 2>{1.5, -2.0}));
}

TEST(SingleProcess, EveryGroupOfItIsItself) {
  SingleProcess alone;
  const std::unique_ptr<Communicator> group = alone.split(3);
  EXPECT_EQ(group->rank(), 0U);
  EXPECT_EQ(group->size(), 1U);
}

}  // namespace
}  // namespace annulus
