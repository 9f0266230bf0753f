// First come, first served.
#include "server/http/task_pool.h"

#include <utility>

namespace annulus::server {

TaskPool::TaskPool(const std::string& name, int threads, std::size_t max_queue) : max_queue_(max_queue) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back(name, [this] { work(); });
}

TaskPool::~TaskPool() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  ready_.notify_all();
  threads_.clear();
}

bool TaskPool::submit(std::vector<std::function<void()>> tasks) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || (!queue_.empty() && queue_.size() + tasks.size() > max_queue_)) return false;
    for (auto& task : tasks) queue_.push_back(std::move(task));
  }
  if (tasks.size() == 1) {
    ready_.notify_one();
  } else {
    ready_.notify_all();
  }
  return true;
}

std::size_t TaskPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void TaskPool::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace annulus::server
