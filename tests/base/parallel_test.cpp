// Every task runs once, exceptions come back, nesting and concurrent callers are safe.
#include "annulus/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "annulus/base/parallel_progress.h"

namespace annulus {
namespace {

TEST(ParallelFor, RunsEveryTaskOnce) {
  for (const int threads : {0, 1, 2, 4, 9}) {
    for (const std::size_t tasks : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> runs(tasks);
      parallel_for(threads, tasks, [&](std::size_t task) { runs[task].fetch_add(1); });
      for (const auto& count : runs) ASSERT_EQ(count.load(), 1);
    }
  }
}

TEST(ParallelFor, RethrowsAndStaysUsable) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(parallel_for(3, 100,
                              [](std::size_t task) {
                                if (task == 17) throw std::runtime_error("seventeen");
                              }),
                 std::runtime_error);
    std::atomic<int> runs{0};
    parallel_for(3, 10, [&](std::size_t) { runs.fetch_add(1); });
    EXPECT_EQ(runs.load(), 10);
  }
}

TEST(ParallelFor, NestedCallsRunOnTheCallingThread) {
  std::atomic<int> strangers{0};
  parallel_for(2, 8, [&](std::size_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(2, 8, [&](std::size_t) {
      if (std::this_thread::get_id() != self) strangers.fetch_add(1);
    });
  });
  EXPECT_EQ(strangers.load(), 0);
}

TEST(ParallelFor, ServesSeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> runs{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) parallel_for(3, 20, [&](std::size_t) { runs.fetch_add(1); });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs.load(), 4 * 50 * 20);
}

TEST(ParallelForWithProgress, TellsItsCallerAloneAndEndsWithAllDone) {
  for (const int threads : {1, 3}) {
    const auto caller = std::this_thread::get_id();
    std::size_t calls = 0;
    std::size_t before = 0;
    std::atomic<int> runs{0};
    const ProgressCallback watch = [&](const Progress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(progress.stage, "count");
      EXPECT_EQ(progress.total, 50U);
      EXPECT_GE(progress.done, before);
      before = progress.done;
      ++calls;
      return true;
    };
    parallel_for_with_progress(threads, 50, "count", watch, [&](std::size_t) { runs.fetch_add(1); });
    EXPECT_EQ(runs.load(), 50);
    if (threads == 1) {
      EXPECT_EQ(before, 50U);
      EXPECT_EQ(calls, 51U);  // before the first task and after each
    }
  }
}

TEST(ParallelForWithProgress, StopsBetweenTasks) {
  std::atomic<std::size_t> runs{0};
  const ProgressCallback stop_after_three = [](const Progress& progress) { return progress.done < 3; };
  EXPECT_THROW(parallel_for_with_progress(1, 50, "count", stop_after_three, [&](std::size_t) { runs.fetch_add(1); }),
               Error);
  EXPECT_EQ(runs.load(), 3U);
}

}  // namespace
}  // namespace annulus
