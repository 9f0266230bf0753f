// The predict server: every endpoint, with a token check before a body is read, counting and logging.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "server/http/http_server.h"
#include "server/http/router.h"
#include "server/predict/service.h"

namespace annulus::server {

class PredictServer {
 public:
  // Reads the models and listens. `log` is called from several threads.
  PredictServer(const ServeOptions& options, const std::vector<ModelSource>& models, LogSink log,
                const ProgressCallback& progress = {});

  std::uint16_t port() const { return http_.port(); }
  const Router& router() const { return router_; }

  // Serves until stop() or until stop_asked() returns true; it and load_asked() are polled a few times a second, and
  // model files are checked for changes. Requests in progress are then finished.
  void run(const std::function<bool()>& stop_asked = {}, const std::function<bool()>& load_asked = {});
  void stop() { http_.stop(); }

 private:
  struct Asked;

  HttpOptions with_admit(HttpOptions options);
  std::optional<Response> rejection_by_header(const Request& request);
  bool token_is_right(const Request& request) const;
  Asked asked_of(const Request& request) const;
  void account(const Asked& asked, Response& response);
  void handle(Request&& request, const Respond& respond);
  void watch(const std::function<void()>& look);

  ServeOptions options_;
  LogSink log_;
  Service service_;
  Router router_;
  HttpServer http_;
  std::atomic<bool> running_{false};
};

}  // namespace annulus::server
