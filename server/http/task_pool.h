// A bounded queue of tasks and a few threads that run them: encoding images, reading large bodies, work of the studio.
// Lists of tasks take turns, so that a long one does not keep the others waiting for its end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "annulus/base/worker_thread.h"

namespace annulus::server {

class TaskPool {
 public:
  TaskPool(const std::string& name, int threads, std::size_t max_queue);
  // Queued tasks are dropped; running ones are waited for.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // All of the tasks or, when they would make the queue too long, none. A task that throws is over, whatever it was to
  // do. A list longer than the queue may ever be is taken when nothing waits.
  bool submit(std::vector<std::function<void()>> tasks);
  std::size_t waiting() const;

 private:
  using List = std::deque<std::function<void()>>;

  void work();

  std::size_t max_queue_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::list<List> queue_;  // none is empty; the first task of the first list is next
  std::size_t waiting_ = 0;
  bool stopping_ = false;
  std::vector<WorkerThread> threads_;
};

}  // namespace annulus::server
