// Log lines on standard error, written by a thread of their own: who reads slowly keeps nobody waiting.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

#include "annulus/base/worker_thread.h"
#include "server/log.h"

namespace annulus::cli {

enum class LogForm { kText, kJson };

// An event as one line with its newline: {"time": ..., "level": ..., "event": ..., ...}, or words.
std::string log_line(const server::LogEvent& event, LogForm form);

class LogWriter {
 public:
  // Without `requests`, only what is not a request that was answered is written.
  LogWriter(LogForm form, bool requests);
  // Writes what is left.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // From any thread. When ten thousand lines wait already, the line is left out; how many were is told later.
  void add(const server::LogEvent& event);

 private:
  void work();

  LogForm form_;
  bool requests_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::string> lines_;
  std::size_t left_out_ = 0;
  bool stopping_ = false;
  WorkerThread thread_;
};

}  // namespace annulus::cli
