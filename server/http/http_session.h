// One connection: reads a request, has it answered, writes the response, and again. Included by the server's own
// sources only.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "annulus/base/clock.h"
#include "server/http/growing_body.h"
#include "server/http/http.h"
#include "server/http/http_server.h"

namespace annulus::server {

using Executor = boost::asio::strand<boost::asio::io_context::executor_type>;
using Tcp = boost::asio::ip::tcp;
using Socket = boost::asio::basic_stream_socket<Tcp, Executor>;

class Session;

// What the connections of a server share, and what is left of it for those who still hold a Respond.
struct ServerState {
  HttpOptions options;
  Handler handler;
  bool loopback = false;                      // listens on an address of this machine only
  std::atomic<bool> draining{false};          // the server stops: connections end with their next response
  std::atomic<bool> closing{false};           // and no new ones are taken
  std::atomic<std::size_t> waiting_bytes{0};  // bodies that were read and are not answered yet
  std::atomic<std::size_t> answer_bytes{0};   // responses that were given and are not taken yet

  std::mutex mutex;  // guards what follows; while it is held, connections that are alive stay so
  bool alive = true;
  std::unordered_map<const Session*, std::shared_ptr<Session>> sessions;
  std::unordered_map<std::string, std::size_t> addresses;  // how many of them each address has
  std::function<void()> on_empty;                          // the last connection has gone
};

// Every function runs on the connection's own strand.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Socket socket, std::string peer, std::shared_ptr<ServerState> state);

  void start();
  // Answers 503 without reading anything.
  void turn_away(std::string_view why);
  // Another client needs the place: ends a connection that waits for its client to say something.
  void make_room();
  // The server takes no more connections: this one ends, once what it has sent is answered.
  void drain();
  void answer(Response response);
  // Of a stream of events.
  void push(std::string text);
  void end_stream();
  void finish();
  // Runs a step of this connection. One that fails, for want of memory, ends the connection and not the server.
  template <class Step>
  void run(Step&& step) {
    try {
      step(*this);
    } catch (const std::exception&) {
      finish();
    }
  }

  Executor executor() { return executor_; }
  const std::string& peer() const { return peer_; }
  // Since when it has waited for a header to be complete; from any thread. Nothing while it does other things.
  std::optional<SteadyTime> waiting_since() const {
    const SteadyTime::rep ticks = waiting_since_;
    if (ticks == 0) return std::nullopt;
    return SteadyTime(SteadyTime::duration(ticks));
  }
  void forget_waiting() { waiting_since_ = 0; }

 private:
  enum class Phase { kIdle, kReading, kHandling, kWriting, kStreaming, kClosing };
  class Stream;
  using ErrorCode = boost::beast::error_code;
  using Parser = boost::beast::http::request_parser<GrowingBody>;

  void wait_for_request();
  std::size_t unread();
  void read_more();
  void advance();
  bool parse(ErrorCode& error);
  std::optional<Response> rejection_by_header();
  void turn_down(Response rejection);
  void header_done();
  void reject(const ErrorCode& error);
  void reject(int status, std::string_view message);
  void count_body(std::size_t bytes);
  void count_answer(std::size_t bytes);
  void dispatch();
  Request request_of(const Parser& parser);
  void written();
  void start_stream(const Response& response);
  void watch_client();
  void beat();
  void write_next();
  void linger();
  template <class Step>
  auto guarded(Step step);

  Executor executor_;
  boost::beast::basic_stream<Tcp, Executor> stream_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<ServerState> state_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Request request_;  // whose header was read; its body is still with the parser
  const std::string peer_;
  std::atomic<SteadyTime::rep> waiting_since_{0};
  Phase phase_ = Phase::kIdle;
  bool fresh_ = true;  // no request was read yet
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool finished_ = false;
  std::size_t counted_bytes_ = 0;   // our part of waiting_bytes
  std::size_t counted_answer_ = 0;  // and of answer_bytes
  std::string head_;                // the response on its way: header and body
  std::string body_;
  std::shared_ptr<Stream> events_;
  std::deque<std::string> outbox_;  // events on their way; the first is being written
};

}  // namespace annulus::server
