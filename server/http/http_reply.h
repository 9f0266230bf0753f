// The response to a request on its way back to the connection. Included by the server's own sources only.
#pragma once

#include <atomic>
#include <boost/asio/post.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "server/http/http.h"
#include "server/http/http_session.h"

namespace annulus::server {

// Runs on the connection's strand, if there still is a connection.
template <class Body>
void post_to(ServerState& state, const std::weak_ptr<Session>& target, Body body) {
  const std::lock_guard lock(state.mutex);
  if (!state.alive) return;
  if (auto session = target.lock()) {
    const Executor executor = session->executor();
    boost::asio::post(executor,
                      [session = std::move(session), step = std::move(body)]() mutable { session->run(step); });
  }
}

// The one response to one request; its destructor gives one when nobody else did.
class Reply {
 public:
  Reply(std::shared_ptr<ServerState> state, std::weak_ptr<Session> session)
      : state_(std::move(state)), session_(std::move(session)) {}
  ~Reply() {
    try {
      give(error_response(500, "the request was dropped by a defect of this program"));
    } catch (const std::exception&) {
      give_up();
    }
  }
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  void give(Response response) {
    if (given_.exchange(true)) return;
    try {
      post_to(*state_, session_,
              [answer = std::move(response)](Session& session) mutable { session.answer(std::move(answer)); });
    } catch (const std::exception&) {
      give_up();
    }
  }

 private:
  // There is no memory for a response: the connection ends.
  void give_up() {
    given_ = true;
    try {
      post_to(*state_, session_, [](Session& session) { session.finish(); });
    } catch (const std::exception&) {
      // Nor for that: it ends with the server.
    }
  }

  std::shared_ptr<ServerState> state_;
  std::weak_ptr<Session> session_;
  std::atomic<bool> given_{false};
};

}  // namespace annulus::server
