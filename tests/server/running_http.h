// An HTTP server on a free port that runs for as long as a test.
#pragma once

#include <cstdint>
#include <thread>
#include <utility>

#include "server/http_server.h"
#include "tests/server/raw_client.h"

namespace annulus::server {

class Running {
 public:
  Running(const HttpOptions& options, Handler handler)
      : server_(options, std::move(handler)), thread_([this] { server_.run(); }) {}
  ~Running() { stop(); }
  void stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  HttpServer& server() { return server_; }
  std::uint16_t port() const { return server_.port(); }

 private:
  HttpServer server_;
  std::thread thread_;
};

inline void echo(Request&& request, const Respond& respond) {
  Response response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path + " " + request.body;
  respond(std::move(response));
}

// A header of 1024 bytes, a body of 2000.
inline HttpOptions small_limits() {
  HttpOptions options;
  options.max_header_bytes = 1024;
  options.max_body_bytes = 2000;
  options.drain_time = kPatience;
  return options;
}

}  // namespace annulus::server
