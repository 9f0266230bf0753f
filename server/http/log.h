// Log events of the server, with fields; the program formats them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace annulus::server {

enum class LogLevel { kInfo, kWarning };

struct LogEvent {
  LogLevel level = LogLevel::kInfo;
  std::string event;  // "request", "model loaded"
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t, double>>> fields;
};

// Called from several threads; must not block.
using LogSink = std::function<void(const LogEvent&)>;

}  // namespace annulus::server
