// Log lines on standard error.
#include "cli/terminal/log_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

namespace annulus::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::chrono::milliseconds kPatience{500};  // for the last lines
constexpr int kPollMilliseconds = 50;
// A pipe that is ready takes this many bytes without a wait (PIPE_BUF of Linux).
constexpr std::size_t kPieceBytes = 4096;

std::string now_text() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds);
}

// Three digits after the point: microseconds of a time in milliseconds.
double rounded(double value) { return std::round(value * 1e3) / 1e3; }

}  // namespace

std::string log_line(const server::LogEvent& event, LogForm form) {
  const char* level = event.level == server::LogLevel::kWarning ? "warning" : "info";
  if (form == LogForm::kJson) {
    nlohmann::ordered_json json{{"time", now_text()}, {"level", level}, {"event", event.event}};
    for (const auto& [name, value] : event.fields) {
      std::visit(
          [&, &key = name](const auto& held) {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>) {
              json[key] = rounded(held);
            } else {
              json[key] = held;
            }
          },
          value);
    }
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  std::string line =
      fmt::format("{} {}{}", now_text(), event.level == server::LogLevel::kWarning ? "warning: " : "", event.event);
  for (const auto& [name, value] : event.fields) {
    line += fmt::format(" {}=", name);
    if (const auto* text = std::get_if<std::string>(&value)) {
      for (const char c : *text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      line += fmt::format("{}", *number);
    } else {
      line += fmt::format("{:.3f}", std::get<double>(value));
    }
  }
  return line + "\n";
}

LogWriter::LogWriter(LogForm form, bool requests)
    : form_(form), requests_(requests), thread_("log", [this] { work(); }) {}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    stopped_ = std::chrono::steady_clock::now();
  }
  ready_.notify_one();
}

void LogWriter::add(const server::LogEvent& event) {
  if (!requests_ && event.event == "request") return;
  try {
    const std::string line = log_line(event, form_);
    const std::lock_guard lock(mutex_);
    if (lines_.size() + line.size() > kMostBytes) {
      ++left_out_;
      return;
    }
    lines_ += line;
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    ++left_out_;
    return;
  }
  ready_.notify_one();
}

void LogWriter::work() {
  for (bool last = false; !last;) {
    std::string text;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !lines_.empty(); });
      text.swap(lines_);
      last = stopping_;
      try {
        if (left_out_ > 0) text += left_out_line();
        left_out_ = 0;
      } catch (const std::bad_alloc&) {
        // Told with the next lines.
      }
    }
    if (!write(text)) return;
  }
}

std::string LogWriter::left_out_line() const {
  const auto count = static_cast<std::int64_t>(left_out_);
  return log_line({server::LogLevel::kWarning, "lines left out", {{"count", count}}}, form_);
}

bool LogWriter::stopped_for_long() {
  const std::lock_guard lock(mutex_);
  return stopping_ && std::chrono::steady_clock::now() - stopped_ > kPatience;
}

// Waits for room as long as the program runs; false when it ends first. Standard error is shared with other programs:
// it is asked for room before each write, and not made to fail instead of waiting.
bool LogWriter::write(std::string_view text) {
  while (!text.empty()) {
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&room, 1, kPollMilliseconds) <= 0) {
      if (stopped_for_long()) return false;
      continue;
    }
    const std::string_view piece = text.substr(0, kPieceBytes);
    const ssize_t written = ::write(STDERR_FILENO, piece.data(), piece.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      return true;  // nobody reads any more, or the disk is full: these lines are lost, later ones may not be
    } else if (stopped_for_long()) {
      return false;
    }
  }
  return true;
}

}  // namespace annulus::cli
