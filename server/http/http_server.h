// An HTTP/1.1 server: one or a few threads wait for all connections at once, so slow and vanished clients cost memory
// that is bounded, and no thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/http.h"

namespace annulus::server {

struct HttpOptions {
  std::string address = "127.0.0.1";  // to listen on; a number, not a name
  std::uint16_t port = 0;             // 0: chosen by the system, see HttpServer::port
  int threads = 1;                    // that read and write; handlers run on them
  // When there are as many, a new one takes the place of one whose client has not sent a whole header yet, or nothing
  // since its last response: of the address with the most connections the one that has waited longest. Without such a
  // one it gets 503.
  std::size_t max_connections = 512;
  std::size_t max_per_address = 0;  // of max_connections; more get 503; 0: no such limit
  std::size_t max_header_bytes = std::size_t{16} << 10;
  std::size_t max_body_bytes = std::size_t{32} << 20;  // a larger one gets 413
  // Bodies of all connections together, and responses that their clients have not taken yet: each at most this. A
  // request whose body makes them more gets 503, as does one whose response does, unless that is small or the only one.
  std::size_t max_waiting_bytes = std::size_t{512} << 20;
  std::size_t max_stream_backlog = std::size_t{4} << 20;  // of events that a client has not read yet
  std::chrono::milliseconds header_time{10'000};          // from the first byte of a request to the end of its header
  std::chrono::milliseconds body_time{60'000};            // for the whole body
  std::chrono::milliseconds idle_time{60'000};            // between two requests
  std::chrono::milliseconds write_time{30'000};           // for a response to be taken
  std::chrono::milliseconds grace_time{100};              // for connections still taken when the server stops
  std::chrono::milliseconds drain_time{10'000};           // for requests under way when the server stops
  std::chrono::milliseconds stream_beat{15'000};          // between signs of life on a stream of events
  // Asked on an I/O thread when a header was read, before any of the body is: a response turns the request down, and
  // the body is not waited for. The request has no body then. Empty: all are let in.
  std::function<std::optional<Response>(const Request&)> admit;
  // On a loopback address, requests whose Host is another machine's name get 421: a page that makes its own name point
  // here (DNS rebinding) stays outside.
  bool check_host = true;
};

class HttpServer {
 public:
  // Listens from now on. Throws Error{kIo} when it cannot (a port in use).
  HttpServer(const HttpOptions& options, Handler handler);
  // Call after run() has returned, or without run(). Respond objects that others still hold then do nothing.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  // Answers requests until stop().
  void run();
  // From any thread, not from a signal handler. For grace_time connections and requests are taken as before, each with
  // "Connection: close" in its response: clients hear of the end before it comes. Then no connection is taken; those
  // that were made, also if not accepted yet, and requests under way are finished for up to drain_time, streams of
  // events end, and run() returns.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace annulus::server
