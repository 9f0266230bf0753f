// A pool of waiting threads that help whoever calls parallel_for.
#include "annulus/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace annulus {
namespace {

thread_local bool inside_task = false;

// Waits a little for `ready` without sleeping: a step of training is a dozen calls, and waking a thread takes longer
// than some of them. About 200 microseconds, after which the caller sleeps.
template <class Ready>
void wait_awake(const Ready& ready) {
  constexpr int kRounds = 6000;
  for (int i = 0; i < kRounds && !ready(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
}

// One call of parallel_for. Helpers hold it by shared_ptr, so one that wakes late finds no task left and lets go.
struct Job {
  std::size_t tasks = 0;
  const TaskBody* body = nullptr;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable all_left;
  std::atomic<int> active{0};  // threads inside run(); changed under mutex
  bool closed = false;         // no further helper may enter; guarded by mutex
  std::exception_ptr error;

  bool enter() {
    const std::lock_guard lock(mutex);
    if (closed) return false;
    ++active;
    return true;
  }

  void leave() {
    const std::lock_guard lock(mutex);
    if (--active == 0) all_left.notify_all();
  }

  void run() {
    inside_task = true;
    for (std::size_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
      try {
        (*body)(task);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next.store(tasks);
      }
    }
    inside_task = false;
  }

  void close_and_wait() {
    {
      const std::lock_guard lock(mutex);
      closed = true;
    }
    wait_awake([this] { return active.load() == 0; });
    std::unique_lock lock(mutex);
    all_left.wait(lock, [this] { return active == 0; });
  }
};

class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  // Asks for `helpers` threads to join `job`; starts threads that do not exist yet.
  void invite(const std::shared_ptr<Job>& job, int helpers) {
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_.size()) < helpers) threads_.emplace_back([this] { serve(); });
      for (int i = 0; i < helpers; ++i) invitations_.push_back(job);
      invited_.store(invitations_.size());
    }
    if (helpers == 1) {
      waiting_.notify_one();
    } else {
      waiting_.notify_all();
    }
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    waiting_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void serve() {
    for (;;) {
      std::shared_ptr<Job> job;
      wait_awake([this] { return invited_.load() > 0; });
      {
        std::unique_lock lock(mutex_);
        waiting_.wait(lock, [this] { return stopping_ || !invitations_.empty(); });
        if (stopping_) return;
        job = std::move(invitations_.front());
        invitations_.pop_front();
        invited_.store(invitations_.size());
      }
      if (!job->enter()) continue;
      job->run();
      job->leave();
    }
  }

  std::mutex mutex_;
  std::condition_variable waiting_;
  std::deque<std::shared_ptr<Job>> invitations_;
  std::atomic<std::size_t> invited_{0};  // their number, to be read without the mutex
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

}  // namespace

int hardware_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int threads, std::size_t tasks, TaskBody body) {
  if (tasks == 0) return;
  if (threads <= 0) threads = hardware_threads();
  const auto wanted = static_cast<int>(std::min<std::size_t>(tasks, static_cast<std::size_t>(threads)));
  if (wanted == 1 || inside_task) {
    for (std::size_t task = 0; task < tasks; ++task) body(task);
    return;
  }
  const auto job = std::make_shared<Job>();
  job->tasks = tasks;
  job->body = &body;
  Pool::instance().invite(job, wanted - 1);
  job->run();
  job->close_and_wait();
  // Taken out of the job: a helper that lets go of it late must not be the one that frees the exception.
  if (const std::exception_ptr error = std::exchange(job->error, nullptr)) std::rethrow_exception(error);
}

}  // namespace annulus
