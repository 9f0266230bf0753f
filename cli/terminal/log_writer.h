// Log lines on standard error, written by a thread of their own: who reads slowly, or not at all, keeps nobody waiting.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "annulus/base/worker_thread.h"
#include "server/http/log.h"

namespace annulus::cli {

enum class LogForm { kText, kJson };

// An event as one line with its newline: {"time": ..., "level": ..., "event": ..., ...}, or words.
std::string log_line(const server::LogEvent& event, LogForm form);

class LogWriter {
 public:
  // Without `requests`, only what is not a request that was answered is written.
  LogWriter(LogForm form, bool requests);
  // Writes what is left, as far as it is taken within a moment.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // From any thread, never waits. When 4 MB of lines wait already, the line is left out; how many were is told later.
  void add(const server::LogEvent& event);

 private:
  void work();
  std::string left_out_line() const;  // while mutex_ is held
  bool write(std::string_view text);
  bool stopped_for_long();

  LogForm form_;
  bool requests_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::string lines_;  // that wait, each with its newline
  std::size_t left_out_ = 0;
  bool stopping_ = false;
  std::chrono::steady_clock::time_point stopped_;  // when that began
  WorkerThread thread_;
};

}  // namespace annulus::cli
