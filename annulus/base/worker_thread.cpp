// A named thread that is joined when its owner goes.
#include "annulus/base/worker_thread.h"

#include <pthread.h>

#include <thread>
#include <utility>

namespace annulus {

struct WorkerThread::State {
  std::thread thread;
};

WorkerThread::WorkerThread(const std::string& name, std::function<void()> body) : state_(std::make_unique<State>()) {
  state_->thread = std::thread([short_name = name.substr(0, 15), run = std::move(body)] {
    pthread_setname_np(pthread_self(), short_name.c_str());
    run();
  });
}

WorkerThread::~WorkerThread() {
  if (state_ && state_->thread.joinable()) state_->thread.join();
}

WorkerThread::WorkerThread(WorkerThread&&) noexcept = default;

}  // namespace annulus
