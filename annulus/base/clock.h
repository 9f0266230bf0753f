// How long something took.
#pragma once

#include <chrono>

namespace annulus {

using SteadyTime = std::chrono::steady_clock::time_point;

inline SteadyTime now() { return std::chrono::steady_clock::now(); }

inline double seconds_since(SteadyTime start) { return std::chrono::duration<double>(now() - start).count(); }

}  // namespace annulus
