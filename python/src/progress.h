// Long work with the interpreter's lock released: progress goes to a Python callable, and Ctrl-C stops it.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/progress.h"

namespace annulus::python {

// Tells a Python callable `heard(stage, done, total, detail)`, or nobody where it is None, how far work is. The work is
// stopped when the callable returns False or raises, and when a signal handler does.
class Listener {
 public:
  explicit Listener(pybind11::object heard) : heard_(std::move(heard)) {}

  // Called without the interpreter's lock, which is taken every kInterval at most: others may hold it for long.
  bool tell(const Progress& progress);
  // Throws what the callable or the signal handler raised, if anything.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  static constexpr auto kInterval = std::chrono::milliseconds(20);

  pybind11::object heard_;
  std::string stage_;
  decltype(now()) told_{};
  std::exception_ptr raised_;
};

// Runs work(progress) without the interpreter's lock.
template <class Work>
auto without_lock(const pybind11::object& heard, const Work& work) {
  Listener listener(heard);
  try {
    const pybind11::gil_scoped_release release;
    return work(ProgressCallback([&listener](const Progress& progress) { return listener.tell(progress); }));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCancelled) listener.rethrow();
    throw;
  }
}

}  // namespace annulus::python
