// Tasks on several threads report to their caller and stop when told.
#include "annulus/base/parallel_progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "annulus/base/error.h"

namespace annulus {
namespace {

TEST(ParallelForWithProgress, TellsItsCallerAloneAndEndsWithAllDone) {
  for (const int threads : {1, 3}) {
    const auto caller = std::this_thread::get_id();
    std::size_t calls = 0;
    std::size_t before = 0;
    std::atomic<std::size_t> sum = 0;
    const ProgressCallback watch = [&](const Progress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(progress.stage, "count");
      EXPECT_EQ(progress.total, 50U);
      EXPECT_GE(progress.done, before);
      before = progress.done;
      ++calls;
      return true;
    };
    parallel_for_with_progress(threads, 50, "count", watch, [&](std::size_t task) { sum += task; });
    EXPECT_EQ(sum, 49U * 50U / 2U);
    EXPECT_EQ(before, 50U);
    if (threads == 1) {
      EXPECT_EQ(calls, 51U);  // before the first task and after each
    }
  }
}

TEST(ParallelForWithProgress, EndsWithAllDoneWhenAnotherThreadDidTheLastTask) {
  const auto caller = std::this_thread::get_id();
  std::size_t last = 0;
  std::atomic<std::size_t> callers_done = 0;
  const ProgressCallback watch = [&](const Progress& progress) {
    last = progress.done;
    if (progress.done > 0) ++callers_done;
    return true;
  };
  parallel_for_with_progress(2, 2, "count", watch, [&](std::size_t) {
    // The other thread ends its task only after the caller has reported its own.
    while (std::this_thread::get_id() != caller && callers_done == 0) std::this_thread::yield();
  });
  EXPECT_EQ(last, 2U);
}

TEST(ParallelForWithProgress, StopsWhenTheCallerSaysSo) {
  std::atomic<std::size_t> begun = 0;
  const ProgressCallback stop = [](const Progress& progress) { return progress.done < 3; };
  try {
    parallel_for_with_progress(1, 1000, "count", stop, [&](std::size_t) { ++begun; });
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
  }
  EXPECT_EQ(begun, 3U);
}

}  // namespace
}  // namespace annulus
