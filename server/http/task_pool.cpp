// A task of each list in turn.
#include "server/http/task_pool.h"

#include <iterator>
#include <utility>

namespace annulus::server {

TaskPool::TaskPool(const std::string& name, int threads, std::size_t max_queue) : max_queue_(max_queue) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back(name, [this] { work(); });
}

TaskPool::~TaskPool() {
  std::list<List> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
    waiting_ = 0;
  }
  ready_.notify_all();
  threads_.clear();
}

bool TaskPool::submit(std::vector<std::function<void()>> tasks) {
  const std::size_t count = tasks.size();
  if (count == 0) return true;
  std::list<List> list;
  list.emplace_back(std::make_move_iterator(tasks.begin()), std::make_move_iterator(tasks.end()));
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || (waiting_ > 0 && waiting_ + count > max_queue_)) return false;
    queue_.splice(queue_.end(), list);
    waiting_ += count;
  }
  if (count == 1) {
    ready_.notify_one();
  } else {
    ready_.notify_all();
  }
  return true;
}

std::size_t TaskPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void TaskPool::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      List& list = queue_.front();
      task = std::move(list.front());
      list.pop_front();
      --waiting_;
      if (list.empty()) {
        queue_.pop_front();
      } else {
        queue_.splice(queue_.end(), queue_, queue_.begin());
      }
    }
    try {
      task();
    } catch (...) {
      // Not enough memory, most likely. What the task held is given back; a request that it held gets status 500.
    }
  }
}

}  // namespace annulus::server
