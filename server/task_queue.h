// Work that requests ask for, off the threads that wait for connections: a bounded queue and a few threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "annulus/base/worker_thread.h"

namespace annulus::server {

class TaskQueue {
 public:
  TaskQueue(const std::string& name, int threads, std::size_t most_waiting);
  // Drops what has not begun and waits for what has.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // False when too much is waiting already. A task must not throw.
  bool add(std::function<void()> task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  std::size_t most_waiting_;
  bool stopping_ = false;
  std::vector<WorkerThread> threads_;
};

}  // namespace annulus::server
