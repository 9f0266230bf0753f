// How long work tells its caller how far it is, and how the caller stops it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "annulus/base/error.h"

namespace annulus {

struct Progress {
  std::string stage;      // what is being done, e.g. "search epsilon"
  std::size_t done = 0;   // units finished
  std::size_t total = 0;  // units in all; 0 when unknown
  std::string detail;     // free text for the end of the line, e.g. "epsilon 2.50: 93.1 %"
};

// Called from the thread that started the work. Returning false asks the work to stop: it then throws
// Error{kCancelled} and leaves nothing half done. An empty callback means nobody is watching.
using ProgressCallback = std::function<bool(const Progress&)>;

inline constexpr const char* kStopped = "stopped at the user's request";

inline void report(const ProgressCallback& callback, const Progress& progress) {
  if (callback && !callback(progress)) throw Error(ErrorKind::kCancelled, kStopped);
}

}  // namespace annulus
