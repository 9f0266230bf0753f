// Accepts connections and keeps them until they or the server end.
#include "server/http/http_server.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "annulus/base/worker_thread.h"
#include "server/http/http_session.h"

namespace annulus::server {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

namespace {

// For handshakes that have begun when no new ones are taken.
constexpr std::chrono::milliseconds kHandshakeTime{10};

// From now on the socket does not hear of new connections; clients try again a second later, or elsewhere. Without
// this, one that is made between the last accept and the close would be reset, with its request.
void stop_hearing(int listener) {
  constexpr unsigned kFlagsOffset = 13;  // of a TCP header
  constexpr unsigned kSyn = 0x02;
  std::array<sock_filter, 4> code{{{BPF_LD | BPF_B | BPF_ABS, 0, 0, kFlagsOffset},
                                   {BPF_JMP | BPF_JSET | BPF_K, 0, 1, kSyn},
                                   {BPF_RET | BPF_K, 0, 0, 0},
                                   {BPF_RET | BPF_K, 0, 0, 0xffffffff}}};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // Where the kernel does not allow it, the moment between remains.
  static_cast<void>(::setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)));
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, Handler handler)
      : context_(options.threads),
        guard_(asio::make_work_guard(context_)),
        strand_(asio::make_strand(context_)),
        acceptor_(strand_),
        timer_(strand_),
        step_(strand_),
        state_(std::make_shared<ServerState>()) {
    state_->options = options;
    state_->handler = std::move(handler);
    state_->on_empty = [this] { asio::post(strand_, [this] { leave_when_empty(); }); };
    listen();
  }

  ~Impl() {
    // Destroyed without the lock: a handler may own responses that were never given.
    Handler handler;
    std::unordered_map<const Session*, std::shared_ptr<Session>> sessions;
    const std::lock_guard lock(state_->mutex);
    state_->alive = false;
    state_->on_empty = nullptr;
    handler.swap(state_->handler);
    sessions.swap(state_->sessions);
  }

  std::uint16_t port() const { return port_; }

  void run() {
    asio::post(strand_, [this] { accept(); });
    std::vector<WorkerThread> others;
    for (int i = 1; i < state_->options.threads; ++i) others.emplace_back("http", [this] { run_steps(); });
    run_steps();
  }

  void stop() {
    asio::post(strand_, [this] {
      if (state_->draining.exchange(true)) return;
      or_at_once([this] {
        timer_.expires_after(state_->options.drain_time);
        timer_.async_wait([this](const ErrorCode& error) {
          if (!error) context_.stop();
        });
        after(state_->options.grace_time, [this] {
          or_at_once([this] {
            stop_hearing(acceptor_.native_handle());
            after(kHandshakeTime, [this] { or_at_once([this] { close_listener(); }); });
          });
        });
      });
    });
  }

 private:
  // A step of the stop; without the memory for it the stop is not a gentle one.
  template <class Step>
  void or_at_once(const Step& step) {
    try {
      step();
    } catch (const std::bad_alloc&) {
      context_.stop();
    }
  }

  template <class Step>
  void after(std::chrono::milliseconds time, Step step) {
    step_.expires_after(time);
    step_.async_wait([next = std::move(step)](const ErrorCode& cancelled) {
      if (!cancelled) next();
    });
  }

  // A step for which there is not enough memory is left out; the connection that it belonged to has ended by itself.
  void run_steps() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::bad_alloc&) {
        accept_again();
      } catch (...) {
        context_.stop();  // the other threads would be waited for
        throw;
      }
    }
  }

  void accept_again() {
    try {
      asio::post(strand_, [this] {
        if (!accepting_ && !state_->draining) accept();
      });
    } catch (const std::bad_alloc&) {
      // The next step that fails tries again.
    }
  }

  // Takes the connections that wait already; then those of all that have nothing to say end.
  void close_listener() {
    ErrorCode error;
    acceptor_.cancel(error);
    acceptor_.non_blocking(true, error);
    while (!error) {
      Socket socket(asio::make_strand(context_));
      acceptor_.accept(socket, error);
      if (!error) admit(std::move(socket));
    }
    acceptor_.close(error);
    state_->closing = true;
    {
      const std::lock_guard lock(state_->mutex);
      for (const auto& [key, session] : state_->sessions) {
        asio::post(session->executor(), [keep = session] { keep->drain(); });
      }
    }
    leave_when_empty();
  }

  void listen() {
    const auto& options = state_->options;
    ErrorCode error;
    const auto check = [&](const char* step) {
      if (error) {
        fail(ErrorKind::kIo, "cannot listen on {} port {}: {} ({})", options.address, options.port, error.message(),
             step);
      }
    };
    const auto address = asio::ip::make_address(options.address, error);
    if (error) fail(ErrorKind::kUsage, "expected the number of an address to listen on, found \"{}\"", options.address);
    state_->loopback = address.is_loopback();
    const Tcp::endpoint endpoint(address, options.port);
    acceptor_.open(endpoint.protocol(), error);
    check("socket");
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    check("option");
    acceptor_.bind(endpoint, error);
    check("bind");
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    check("listen");
    port_ = acceptor_.local_endpoint(error).port();
    check("address");
  }

  void accept() {
    if (!acceptor_.is_open()) return;
    accepting_ = false;
    acceptor_.async_accept(asio::make_strand(context_), [this](const ErrorCode& error, Socket socket) {
      if (!error) {
        admit(std::move(socket));
      } else if (error != asio::error::operation_aborted && !state_->draining) {
        // Out of file descriptors, most likely: a moment later there may be some again.
        return after(std::chrono::milliseconds(50), [this] { accept(); });
      } else {
        return;
      }
      accept();
    });
    accepting_ = true;
  }

  void admit(Socket socket) {
    std::shared_ptr<Session> session;
    try {
      ErrorCode unknown;
      const auto endpoint = socket.remote_endpoint(unknown);
      session = std::make_shared<Session>(std::move(socket), unknown ? "" : endpoint.address().to_string(), state_);
      const std::string_view rejection = place(session);
      asio::post(session->executor(), [session, rejection] {
        session->run([&](Session& fresh) {
          if (rejection.empty()) return fresh.start();
          fresh.turn_away(rejection);
        });
      });
    } catch (const std::exception&) {
      // Not enough memory for one more, or not even for the words that say so.
      if (session) session->finish();
    }
  }

  // Gives a connection its place; says why there is none. Throws when it is not even to be told.
  std::string_view place(const std::shared_ptr<Session>& session) {
    const HttpOptions& options = state_->options;
    const std::lock_guard lock(state_->mutex);
    const std::size_t open = state_->sessions.size();
    if (open >= 2 * options.max_connections) fail(ErrorKind::kInput, "too many connections");
    state_->sessions.emplace(session.get(), session);
    const std::size_t of_address = ++state_->addresses[session->peer()];
    if (options.max_per_address != 0 && of_address > options.max_per_address) {
      return "too many connections from this address, come back later";
    }
    if (open < options.max_connections) return {};
    const std::shared_ptr<Session> idle = longest_waiting();
    if (!idle) return "too many connections, come back later";
    idle->forget_waiting();
    asio::post(idle->executor(), [idle] { idle->run([](Session& waiting) { waiting.make_room(); }); });
    return {};
  }

  // Of those that wait for their client to say something: of the address with the most connections the first.
  std::shared_ptr<Session> longest_waiting() const {
    std::shared_ptr<Session> found;
    std::size_t most = 0;
    SteadyTime since{};
    for (const auto& [key, session] : state_->sessions) {
      const auto waiting = session->waiting_since();
      const auto held = state_->addresses.find(session->peer());
      if (!waiting || held == state_->addresses.end()) continue;
      if (held->second > most || (held->second == most && *waiting < since)) {
        found = session;
        most = held->second;
        since = *waiting;
      }
    }
    return found;
  }

  void leave_when_empty() {
    if (!state_->closing) return;
    const std::lock_guard lock(state_->mutex);
    if (!state_->sessions.empty()) return;
    timer_.cancel();
    guard_.reset();
  }

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  Executor strand_;
  asio::basic_socket_acceptor<Tcp, Executor> acceptor_;
  asio::steady_timer timer_;  // for the whole of a stop
  asio::steady_timer step_;   // until the next step of one, or the next try to accept
  std::shared_ptr<ServerState> state_;
  bool accepting_ = false;  // of the strand
  std::uint16_t port_ = 0;
};

HttpServer::HttpServer(const HttpOptions& options, Handler handler)
    : impl_(std::make_unique<Impl>(options, std::move(handler))) {}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::run() { impl_->run(); }
void HttpServer::stop() { impl_->stop(); }

}  // namespace annulus::server
