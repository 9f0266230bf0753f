// One connection, as a chain of callbacks; Boost.Beast parses, timeouts bound every step.
#include "server/http/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>
#include <utility>

#include "server/http/event_text.h"
#include "server/http/http_reply.h"
#include "server/http/target.h"

namespace annulus::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr std::chrono::seconds kLingerTime{2};
// Answers up to this size are always given: connections bound them.
constexpr std::size_t kSmallAnswer = std::size_t{4} << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

class Session::Stream : public EventStream {
 public:
  Stream(std::shared_ptr<ServerState> state, std::weak_ptr<Session> session)
      : state_(std::move(state)), session_(std::move(session)) {}

  bool send(std::string_view event, std::string_view data) override {
    std::string text = event_text(event, data);
    if (!open_) return false;
    if (backlog_.fetch_add(text.size()) + text.size() > state_->options.max_stream_backlog) {
      close();
      return false;
    }
    post_to(*state_, session_, [sent = std::move(text)](Session& session) mutable { session.push(std::move(sent)); });
    return true;
  }
  bool connected() const override { return open_; }
  void close() override {
    if (open_.exchange(false)) post_to(*state_, session_, [](Session& session) { session.end_stream(); });
  }

  void gone() { open_ = false; }
  void left(std::size_t bytes) { backlog_ -= bytes; }
  void joined(std::size_t bytes) { backlog_ += bytes; }

 private:
  std::shared_ptr<ServerState> state_;
  std::weak_ptr<Session> session_;
  std::atomic<bool> open_{true};
  std::atomic<std::size_t> backlog_{0};
};

Session::Session(Socket socket, std::string peer, std::shared_ptr<ServerState> state)
    : executor_(socket.get_executor()),
      stream_(std::move(socket)),
      timer_(executor_),
      state_(std::move(state)),
      buffer_(state_->options.max_header_bytes + kReadBytes),
      peer_(std::move(peer)) {}

// A callback of this connection, with its own first argument.
template <class Step>
auto Session::guarded(Step step) {
  return [self = shared_from_this(), body = std::move(step)](const ErrorCode& error, auto... more) {
    self->run([&](Session& session) { body(session, error, more...); });
  };
}

void Session::start() {
  ErrorCode error;
  stream_.socket().set_option(Tcp::no_delay(true), error);
  wait_for_request();
}

void Session::turn_away(std::string_view why) {
  keep_alive_ = false;
  Response response = error_response(503, why);
  response.headers.emplace_back("Retry-After", "1");
  answer(std::move(response));
}

void Session::make_room() {
  const bool idle = phase_ == Phase::kIdle && unread() == 0;
  const bool half_asked = phase_ == Phase::kReading && !parser_->is_header_done();
  if (idle || half_asked) finish();
}

void Session::drain() {
  if (phase_ == Phase::kStreaming && events_) events_->close();
  if (phase_ != Phase::kIdle || unread() > 0) return;
  if (!fresh_) return finish();
  // The first request of a connection that was just made is on its way.
  timer_.expires_after(state_->options.grace_time);
  timer_.async_wait(guarded([](Session& session, const ErrorCode& error) {
    if (!error && session.phase_ == Phase::kIdle && session.unread() == 0) session.finish();
  }));
}

// Bytes that the client has sent and nobody has parsed.
std::size_t Session::unread() {
  ErrorCode error;
  const std::size_t waiting = stream_.socket().available(error);
  return buffer_.size() + (error ? 0 : waiting);
}

// --- reading ----------------------------------------------------------------------------------------------------

void Session::wait_for_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(state_->options.max_header_bytes));
  parser_->body_limit(state_->options.max_body_bytes);
  parser_->eager(false);
  head_only_ = false;
  waiting_since_ = now().time_since_epoch().count();
  phase_ = Phase::kIdle;
  if (buffer_.size() > 0) {
    phase_ = Phase::kReading;
    stream_.expires_after(state_->options.header_time);
    return advance();
  }
  stream_.expires_after(state_->options.idle_time);
  read_more();
  if (state_->closing) drain();
}

void Session::read_more() {
  const std::size_t room = std::min(kReadBytes, buffer_.max_size() - buffer_.size());
  // Only the header or the trailer of a chunk gets here: all else is either parsed or rejected before.
  if (room == 0) return reject(400, fmt::format("expected chunks with headers of at most {} bytes", kReadBytes));
  const auto took = [](Session& session, const ErrorCode& error, std::size_t size) {
    if (error) return session.reject(error);
    session.buffer_.commit(size);
    if (session.phase_ == Phase::kIdle) {
      session.phase_ = Phase::kReading;
      session.stream_.expires_after(session.state_->options.header_time);
    }
    session.advance();
  };
  stream_.async_read_some(buffer_.prepare(room), guarded(took));
}

// Feeds the parser what has come, first up to the end of the header; false when it needs more for that or for the body.
bool Session::parse(ErrorCode& error) {
  const auto done = [this, whole = parser_->is_header_done()] {
    return whole ? parser_->is_done() : parser_->is_header_done();
  };
  try {
    while (!done() && buffer_.size() > 0) {
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error == http::error::need_more) {
        error = {};
        return false;
      }
      if (error) return false;
    }
  } catch (const std::exception&) {
    error = make_error_code(boost::system::errc::not_enough_memory);
    return false;
  }
  return done();
}

void Session::advance() {
  const bool header_before = parser_->is_header_done();
  ErrorCode error;
  if (!header_before) {
    const bool header = parse(error);
    if (error) return reject(error);
    if (!header) return read_more();
    forget_waiting();
    if (auto rejection = rejection_by_header()) return turn_down(std::move(*rejection));
    parser_->eager(true);
  }
  const bool done = parse(error);
  if (error) return reject(error);
  count_body(parser_->get().body().size());
  if (state_->waiting_bytes > state_->options.max_waiting_bytes) {
    return reject(503, "too many requests are waiting, come back later");
  }
  if (done) return dispatch();
  if (!header_before) return header_done();
  read_more();
}

// What a request gets for its header alone, if anything.
std::optional<Response> Session::rejection_by_header() {
  try {
    request_ = request_of(*parser_);
    if (state_->loopback && state_->options.check_host && !request_.header("Host").empty() &&
        !is_loopback_host(request_.header("Host"))) {
      return error_response(421, "this server answers for localhost only");
    }
    if (state_->options.admit) return state_->options.admit(request_);
    return std::nullopt;
  } catch (const Error& error) {
    keep_alive_ = false;  // where the next request begins is not certain
    return error_response(error);
  } catch (const std::exception&) {
    return error_response(500, "a defect of this program, or not enough memory");
  }
}

// The next request begins behind the body; where that is not here yet, there is no next request.
void Session::turn_down(Response rejection) {
  const auto left = parser_->content_length_remaining();
  if (!parser_->is_done()) {
    if (left && *left <= buffer_.size()) {
      buffer_.consume(static_cast<std::size_t>(*left));
    } else {
      keep_alive_ = false;
    }
  }
  answer(std::move(rejection));
}

void Session::header_done() {
  stream_.expires_after(state_->options.body_time);
  if (!beast::iequals(parser_->get()[http::field::expect], "100-continue")) return read_more();
  asio::async_write(stream_, asio::buffer(kContinue),
                    guarded([](Session& session, const ErrorCode& error, std::size_t) {
                      if (error) return session.finish();
                      session.read_more();
                    }));
}

void Session::reject(const ErrorCode& error) {
  if (phase_ == Phase::kIdle) return finish();
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return reject(431, fmt::format("expected a header of at most {} bytes", state_->options.max_header_bytes));
  }
  if (error == http::error::body_limit) {
    return reject(413, fmt::format("expected a body of at most {} bytes", state_->options.max_body_bytes));
  }
  if (error == boost::system::errc::not_enough_memory) return reject(503, "not enough memory, come back later");
  if (error == beast::error::timeout) {
    // The socket is closed by then: there is nobody to tell.
    return finish();
  }
  if (error.category() == make_error_code(http::error::bad_method).category()) {
    return reject(400,
                  fmt::format("expected a request of HTTP/1.1, found one that breaks its rules ({})", error.message()));
  }
  finish();
}

void Session::reject(int status, std::string_view message) {
  keep_alive_ = false;
  Response response = error_response(status, message);
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  answer(std::move(response));
}

void Session::count_body(std::size_t bytes) {
  state_->waiting_bytes += bytes - counted_bytes_;
  counted_bytes_ = bytes;
}

void Session::count_answer(std::size_t bytes) {
  state_->answer_bytes += bytes - counted_answer_;
  counted_answer_ = bytes;
}

// --- answering --------------------------------------------------------------------------------------------------

Request Session::request_of(const Parser& parser) {
  const auto& message = parser.get();
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.peer = peer_;
  for (const auto& field : message) {
    const std::string value(field.value());
    const auto [entry, fresh] = request.headers.emplace(std::string(field.name_string()), value);
    if (!fresh) entry->second += ", " + value;
  }
  keep_alive_ = message.keep_alive();
  fresh_ = false;
  head_only_ = request.method == "HEAD";
  check_framing(request, message.version());
  const std::size_t hosts = message.count(http::field::host);
  if (hosts > 1) fail(ErrorKind::kFormat, "expected one Host header, found {}", hosts);
  if (message.version() >= 11 && request.header("Host").empty()) fail(ErrorKind::kFormat, "expected a Host header");
  Target target = parse_target(request.target);
  if (!target.host.empty()) request.headers.insert_or_assign("Host", target.host);
  request.path = std::move(target.path);
  request.query = std::move(target.query);
  return request;
}

void Session::dispatch() {
  phase_ = Phase::kHandling;
  stream_.expires_never();
  const auto reply = std::make_shared<Reply>(state_, weak_from_this());
  try {
    request_.body = std::move(parser_->get().body());
    state_->handler(std::move(request_), [reply](Response response) { reply->give(std::move(response)); });
  } catch (const Error& error) {
    reply->give(error_response(error));
  } catch (const std::exception&) {
    reply->give(error_response(500, "a defect of this program, or not enough memory"));
  }
}

void Session::answer(Response response) {
  if (finished_) return;
  phase_ = Phase::kWriting;
  if (response.stream && !head_only_) return start_stream(response);
  if (state_->draining && unread() == 0) keep_alive_ = false;
  head_ = header_text(response, keep_alive_);
  if (head_only_ || response.status == 204 || response.status == 304) response.body = {};
  parser_.reset();
  count_body(0);
  count_answer(response.body.size());
  const std::size_t waiting = state_->answer_bytes;
  if (counted_answer_ > kSmallAnswer && waiting > counted_answer_ && waiting > state_->options.max_waiting_bytes) {
    return reject(503, "too many answers are waiting to be taken, come back later");
  }
  body_ = std::move(response.body);
  stream_.expires_after(state_->options.write_time);
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head_), asio::buffer(body_)};
  asio::async_write(stream_, parts, guarded([](Session& session, const ErrorCode& error, std::size_t) {
                      if (error) return session.finish();
                      session.written();
                    }));
}

void Session::written() {
  body_ = {};
  count_answer(0);
  if (keep_alive_) {
    wait_for_request();
  } else {
    linger();
  }
}

// Lets the client read the response: closing while it still sends would take the response back.
void Session::linger() {
  ErrorCode error;
  if (phase_ != Phase::kClosing) {
    phase_ = Phase::kClosing;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, error);
    if (error) return finish();
    stream_.expires_after(kLingerTime);
  }
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kReadBytes),
                          guarded([](Session& session, const ErrorCode& failure, std::size_t) {
                            if (failure) return session.finish();
                            session.linger();
                          }));
}

void Session::finish() {
  if (std::exchange(finished_, true)) return;
  count_body(0);
  count_answer(0);
  timer_.cancel();
  if (events_) events_->gone();
  stream_.close();
  const std::lock_guard lock(state_->mutex);
  const bool had_place = state_->sessions.erase(this) > 0;
  const auto held = state_->addresses.find(peer_);
  if (had_place && held != state_->addresses.end() && --held->second == 0) state_->addresses.erase(held);
  if (state_->sessions.empty() && state_->on_empty) state_->on_empty();
}

// --- streams of events ------------------------------------------------------------------------------------------

void Session::start_stream(const Response& response) {
  phase_ = Phase::kStreaming;
  count_body(0);
  events_ = std::make_shared<Stream>(state_, weak_from_this());
  stream_.expires_never();
  watch_client();
  std::string header = header_text(response, false);
  events_->joined(header.size());
  push(std::move(header));
  beat();
  if (state_->draining) return events_->close();
  response.stream(events_);
}

// A client has nothing more to say on a stream; what ends this read is its leaving.
void Session::watch_client() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(1024), guarded([](Session& session, const ErrorCode& error, std::size_t) {
                            if (error) return session.finish();
                            session.watch_client();
                          }));
}

void Session::beat() {
  timer_.expires_after(state_->options.stream_beat);
  timer_.async_wait(guarded([](Session& session, const ErrorCode& error) {
    if (error || session.finished_) return;
    session.events_->joined(3);
    session.push(":\n\n");
    session.beat();
  }));
}

void Session::push(std::string text) {
  if (finished_) return;
  outbox_.push_back(std::move(text));
  if (outbox_.size() == 1) write_next();
}

void Session::write_next() {
  stream_.expires_after(state_->options.write_time);
  asio::async_write(stream_, asio::buffer(outbox_.front()),
                    guarded([](Session& session, const ErrorCode& error, std::size_t size) {
                      if (error) return session.finish();
                      session.events_->left(size);
                      session.outbox_.pop_front();
                      if (!session.outbox_.empty()) return session.write_next();
                      if (!session.events_->connected()) session.finish();
                    }));
}

void Session::end_stream() {
  if (outbox_.empty()) finish();
}

}  // namespace annulus::server
