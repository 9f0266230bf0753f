// The door of the predict server.
#include "server/predict_server.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/worker_thread.h"
#include "server/inference_api.h"
#include "server/openapi.h"
#include "server/predict_api.h"

namespace annulus::server {
namespace {

constexpr std::chrono::milliseconds kTick{50};

// The one path that is open to all: it says that the process lives, nothing else.
constexpr std::string_view kLive = "/v2/health/live";

// Takes as long whatever the first difference is: digests are compared, all of them.
bool same_secret(std::string_view a, std::string_view b) {
  const std::string first = sha256_hex(std::as_bytes(std::span(a.data(), a.size())));
  const std::string second = sha256_hex(std::as_bytes(std::span(b.data(), b.size())));
  unsigned difference = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(first[i]) ^ static_cast<unsigned char>(second[i]));
  }
  return difference == 0;
}

Response refused_token() {
  Response response = error_response(401, "expected the header Authorization: Bearer TOKEN with the right token");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool origin_is_welcome(const std::string& allowed, std::string_view origin) {
  return !allowed.empty() && !origin.empty() && (allowed == "*" || allowed == origin);
}

Response preflight_response() {
  Response response;
  response.status = 204;
  response.headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                      {"Access-Control-Allow-Headers", "Authorization, Content-Type, Inference-Header-Content-Length"},
                      {"Access-Control-Max-Age", "600"}};
  return response;
}

}  // namespace

PredictServer::PredictServer(const ServeOptions& options, const std::vector<ModelSource>& models, LogSink log,
                             const ProgressCallback& progress)
    : options_(options),
      log_(std::move(log)),
      service_(options, models, log_, progress),
      http_(options.http, [this](Request&& request, const Respond& respond) { handle(std::move(request), respond); }) {
  add_inference_routes(service_, router_);
  add_predict_routes(service_, router_);
  router_.add("GET", "/metrics", [this](Request&&, const Respond& respond) {
    Response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = service_.metrics().text(service_.gauges());
    respond(std::move(response));
  });
  router_.add("GET", "/openapi.json", [](Request&&, const Respond& respond) {
    Response response;
    response.body = kOpenApiText;
    respond(std::move(response));
  });
}

bool PredictServer::token_is_right(const Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.header("Authorization");
  return header.starts_with(kBearer) && same_secret(header.substr(kBearer.size()), options_.token);
}

void PredictServer::handle(Request&& request, const Respond& respond) {
  const Clock::time_point begin = Clock::now();
  const std::string_view pattern = router_.pattern_of(request.method, request.path);
  const bool welcome = origin_is_welcome(options_.cors_origin, request.header("Origin"));
  // Shared, because callbacks are copied on their way through the queues.
  struct Asked {
    std::string route, method, path, peer, origin;
  };
  const auto asked = std::make_shared<const Asked>(Asked{std::string(pattern.empty() ? "other" : pattern),
                                                         request.method, request.path, request.peer,
                                                         std::string(welcome ? request.header("Origin") : "")});
  const Respond counted = [this, respond, begin, asked](Response response) {
    if (!asked->origin.empty()) {
      response.headers.emplace_back("Access-Control-Allow-Origin", asked->origin);
      response.headers.emplace_back("Vary", "Origin");
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    service_.metrics().request(asked->route, response.status, seconds);
    log_({LogLevel::kInfo,
          "request",
          {{"method", asked->method},
           {"path", asked->path},
           {"status", std::int64_t{response.status}},
           {"milliseconds", seconds * 1e3},
           {"bytes", static_cast<std::int64_t>(response.body.size())},
           {"peer", asked->peer}}});
    respond(std::move(response));
  };
  if (welcome && request.method == "OPTIONS" && !request.header("Access-Control-Request-Method").empty()) {
    return counted(preflight_response());
  }
  const bool open_to_all = request.path == kLive && (request.method == "GET" || request.method == "HEAD");
  if (!options_.token.empty() && !open_to_all && !token_is_right(request)) {
    service_.metrics().rejected("token");
    return counted(refused_token());
  }
  try {
    router_(std::move(request), counted);
  } catch (const Error& error) {
    counted(error_response(error));
  }
}

void PredictServer::watch(const std::function<bool()>& stop_asked, const std::function<bool()>& load_asked) {
  std::mutex mutex;
  std::condition_variable tick;
  Clock::time_point look = Clock::now() + options_.watch;
  bool stopping = false;
  while (running_) {
    {
      std::unique_lock lock(mutex);
      tick.wait_for(lock, kTick);
    }
    if (!stopping && stop_asked && stop_asked()) {
      stopping = true;
      log_({LogLevel::kInfo, "stopping", {}});
      http_.stop();
    }
    if (load_asked && load_asked()) service_.models().load_all();
    if (Clock::now() >= look) {
      service_.models().load_changed();
      look = Clock::now() + options_.watch;
    }
  }
}

void PredictServer::run(const std::function<bool()>& stop_asked, const std::function<bool()>& load_asked) {
  running_ = true;
  const WorkerThread watcher("watch", [&] { watch(stop_asked, load_asked); });
  http_.run();
  running_ = false;
}

}  // namespace annulus::server
