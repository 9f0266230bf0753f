// Every task runs once, exceptions come back, nesting and concurrent callers are safe.
#include "annulus/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

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
  std::atomic<int> unknown_inputs{0};
  parallel_for(2, 8, [&](std::size_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(2, 8, [&](std::size_t) {
      if (std::this_thread::get_id() != self) unknown_inputs.fetch_add(1);
    });
  });
  EXPECT_EQ(unknown_inputs.load(), 0);
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

}  // namespace
}  // namespace annulus
