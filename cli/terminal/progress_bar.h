// Progress on standard error: a bar with an estimate on a terminal, a plain line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "annulus/base/progress.h"

namespace annulus::cli {

// "1:05", "2:03:09": a duration in seconds for people.
std::string clock_text(double seconds);

// Draws what its callback is told; the callback answers false once the user pressed Ctrl-C. The bar is wiped when the
// object dies, so results never mix with it. The callback must not outlive the object.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  ProgressCallback callback();
  // Wipes the bar until the next progress: before anything else is written to the terminal.
  void clear();
  // Prints a line for the user in place of the bar; nothing when quiet.
  void note(const std::string& line);
  // The same also when quiet: what was left out makes another result.
  void warn(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;

  void show(const Progress& progress);
  void draw_bar(const Progress& progress, const std::string& estimate);
  std::string estimate(const Progress& progress, Clock::time_point now);

  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point last_shown_;
  // The estimate restarts whenever the units do: with another total, or when fewer are done than before.
  Clock::time_point stage_start_;
  std::size_t stage_total_ = 0;
  std::size_t stage_first_ = 0;
  std::size_t stage_done_ = 0;
};

}  // namespace annulus::cli
