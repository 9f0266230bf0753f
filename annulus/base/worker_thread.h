// A thread that runs one long-lived job beside the pool: an event loop, a queue that is worked off.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace annulus {

class WorkerThread {
 public:
  // Starts at once. `name` is what debuggers and `top -H` show (cut to 15 bytes). The body must not throw.
  WorkerThread(const std::string& name, std::function<void()> body);
  // Waits for the body to return: tell it to stop first.
  ~WorkerThread();
  WorkerThread(WorkerThread&&) noexcept;
  WorkerThread& operator=(WorkerThread&&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace annulus
