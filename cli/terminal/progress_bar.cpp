// Draws progress no more often than anyone can read.
#include "cli/terminal/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/processes/launch.h"
#include "cli/terminal/interrupt.h"

namespace annulus::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr std::chrono::seconds kLineInterval{5};
constexpr std::size_t kBarWidth = 24;

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

double fraction_done(const Progress& progress) {
  if (progress.total == 0) return 0.0;
  return std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total));
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ProgressBar::ProgressBar(bool quiet)
    : quiet_(quiet || only_helps()),
      terminal_(isatty(STDERR_FILENO) != 0),
      last_shown_(Clock::now()),
      stage_start_(last_shown_) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

ProgressCallback ProgressBar::callback() {
  return [this](const Progress& progress) {
    if (!quiet_) show(progress);
    return !interrupted();
  };
}

void ProgressBar::note(const std::string& line) {
  if (!quiet_) warn(line);
}

void ProgressBar::warn(const std::string& line) {
  if (only_helps()) return;
  clear();
  fmt::print(stderr, "{}\n", line);
}

std::string ProgressBar::estimate(const Progress& progress, Clock::time_point now) {
  if (progress.total != stage_total_ || progress.done < stage_done_) {
    stage_total_ = progress.total;
    stage_first_ = progress.done;
    stage_start_ = now;
  }
  stage_done_ = progress.done;
  if (progress.done <= stage_first_ || progress.total < progress.done) return {};
  const double elapsed = std::chrono::duration<double>(now - stage_start_).count();
  const auto finished = static_cast<double>(progress.done - stage_first_);
  return clock_text(elapsed / finished * static_cast<double>(progress.total - progress.done)) + " left";
}

void ProgressBar::show(const Progress& progress) {
  const auto now = Clock::now();
  const std::string left = estimate(progress, now);
  if (now - last_shown_ < (terminal_ ? Clock::duration(kRedrawInterval) : Clock::duration(kLineInterval))) return;
  last_shown_ = now;
  if (terminal_) {
    draw_bar(progress, left);
    return;
  }
  std::string line = progress.stage;
  if (progress.total != 0) line += fmt::format(": {:.0f} %", 100.0 * fraction_done(progress));
  if (!left.empty()) line += ", " + left;
  if (!progress.detail.empty()) line += ", " + progress.detail;
  fmt::print(stderr, "{}\n", line);
}

void ProgressBar::draw_bar(const Progress& progress, const std::string& left) {
  std::string line = progress.stage;
  if (progress.total != 0) {
    const double fraction = fraction_done(progress);
    const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(kBarWidth));
    line += fmt::format(" [{}{}] {:3.0f} %", std::string(filled, '#'), std::string(kBarWidth - filled, '.'),
                        100.0 * fraction);
  }
  if (!left.empty()) line += "  " + left;
  if (!progress.detail.empty()) line += "  " + progress.detail;
  line.resize(std::min(line.size(), terminal_width() - 1));
  fmt::print(stderr, "\r{}\033[K", line);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace annulus::cli
