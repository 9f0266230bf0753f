// Formats values of results.
#include "annulus/report/tables/result_text.h"

#include <fmt/format.h>

namespace annulus {

std::string shots_text(std::size_t shots) { return shots == 0 ? "all" : std::to_string(shots); }

std::string seconds_text(double seconds) {
  if (seconds > 0.0 && seconds < 0.0005) return "< 0.001";
  if (seconds < 1.0) return fmt::format("{:.3f}", seconds);
  return seconds < 100.0 ? fmt::format("{:.1f}", seconds) : fmt::format("{:.0f}", seconds);
}

std::string epsilon_text(double epsilon) { return epsilon == 0.0 ? "-" : fmt::format("{:.3f}", epsilon); }

std::string red_text(const std::string& text, bool colour) { return colour ? "\033[1;31m" + text + "\033[0m" : text; }

}  // namespace annulus
