// A worker runs its body at once, and its owner waits for it.
#include "annulus/base/worker_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace annulus {
namespace {

TEST(WorkerThread, RunsBesideItsOwnerAndIsWaitedFor) {
  std::atomic<bool> go{false};
  std::atomic<int> done{0};
  {
    std::vector<WorkerThread> workers;
    for (int i = 0; i < 3; ++i) {
      workers.emplace_back("a name longer than fifteen bytes", [&] {
        while (!go) std::this_thread::yield();
        ++done;
      });
    }
    EXPECT_EQ(done, 0);
    go = true;
  }
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace annulus
