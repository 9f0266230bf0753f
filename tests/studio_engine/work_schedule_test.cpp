// When the worker wakes, and what it does not try again.
#include "studio_engine/work_schedule.h"

#include <gtest/gtest.h>

#include <thread>

#include "annulus/base/clock.h"

namespace annulus::studio {
namespace {

constexpr double kLong = 60.0;  // seconds; no test may take as long

TEST(WorkSchedule, WaitMissesNoWake) {
  WorkSchedule schedule("a");
  const auto start = now();
  std::uint64_t seen = schedule.wakes();
  schedule.wake();
  schedule.wait(seen, kLong);
  seen = schedule.wakes();
  schedule.note_change("b");
  schedule.wait(seen, kLong);
  seen = schedule.wakes();
  schedule.clear_failure();
  schedule.wait(seen, kLong);
  seen = schedule.wakes();
  schedule.stop();
  schedule.wait(seen, kLong);
  EXPECT_LT(seconds_since(start), kLong / 2);
  EXPECT_TRUE(schedule.stopping());
}

TEST(WorkSchedule, WaitEndsByItself) {
  WorkSchedule schedule("a");
  const auto start = now();
  schedule.wait(schedule.wakes(), 0.02);
  EXPECT_GE(seconds_since(start), 0.02);
  EXPECT_FALSE(schedule.stopping());
}

TEST(WorkSchedule, AnotherThreadWakesTheWorker) {
  WorkSchedule schedule("a");
  const auto start = now();
  const std::uint64_t seen = schedule.wakes();
  std::thread changer([&] { schedule.note_change("b"); });
  schedule.wait(seen, kLong);
  changer.join();
  EXPECT_LT(seconds_since(start), kLong / 2);
  EXPECT_EQ(schedule.content(), "b");
  EXPECT_LT(schedule.seconds_since_change(), kLong / 2);
}

TEST(WorkSchedule, AFailureIsOfOneState) {
  WorkSchedule schedule("a");
  EXPECT_FALSE(schedule.failed());
  schedule.note_failure("a");
  EXPECT_TRUE(schedule.failed());
  schedule.note_change("b");
  EXPECT_FALSE(schedule.failed());
  schedule.note_change("a");
  EXPECT_TRUE(schedule.failed());
  schedule.clear_failure();
  EXPECT_FALSE(schedule.failed());
  // What failed is not what is there by now.
  schedule.note_change("c");
  schedule.note_failure("b");
  EXPECT_FALSE(schedule.failed());
}

}  // namespace
}  // namespace annulus::studio
