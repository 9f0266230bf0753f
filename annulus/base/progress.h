// How long work tells its caller how far it is, and how the caller stops it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "annulus/base/error_type.h"

namespace annulus {

/// How far a call is.
struct Progress {
  std::string stage;      ///< What is being done, e.g. "search epsilon".
  std::size_t done = 0;   ///< Units finished.
  std::size_t total = 0;  ///< Units in all; 0 when that is not known.
  std::string detail;     ///< Text for the end of a line, e.g. "epsilon 2.50: 93.1 %".
};

/// Called now and then by long work, from the thread that started it. Returning false stops the work: it throws
/// Error{kCancelled} and leaves nothing half done. An empty callback hears nothing.
using ProgressCallback = std::function<bool(const Progress&)>;

/// The sentence of an Error{kCancelled}.
inline constexpr const char* kStopped = "stopped at the user's request";

/// Tells a callback how far the work is, if there is one. Throws Error{kCancelled} when it returns false.
inline void report(const ProgressCallback& callback, const Progress& progress) {
  if (callback && !callback(progress)) throw Error(ErrorKind::kCancelled, kStopped);
}

}  // namespace annulus
