// The predict server: token check, counting and logging around all endpoints.
#include "server/predict/predict_server.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/worker_thread.h"
#include "server/http/page_origin.h"
#include "server/http/systemd_notice.h"
#include "server/predict/inference_api.h"
#include "server/predict/openapi.h"
#include "server/predict/photoprism_api.h"
#include "server/predict/predict_api.h"

namespace annulus::server {
namespace {

constexpr std::chrono::milliseconds kTick{50};

// The one path without a token: it only says that the process runs.
constexpr std::string_view kLive = "/v2/health/live";

// Constant time: whole digests are compared.
bool same_secret(std::string_view a, std::string_view b) {
  const std::string first = sha256_hex(std::as_bytes(std::span(a.data(), a.size())));
  const std::string second = sha256_hex(std::as_bytes(std::span(b.data(), b.size())));
  unsigned difference = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(first[i]) ^ static_cast<unsigned char>(second[i]));
  }
  return difference == 0;
}

Response rejected_token() {
  Response response = error_response(401, "expected the header Authorization: Bearer TOKEN with the right token");
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool is_preflight(const Request& request) {
  return request.method == "OPTIONS" && !request.header("Access-Control-Request-Method").empty();
}

bool brings_body(const Request& request) {
  const std::string_view length = request.header("Content-Length");
  return !request.header("Transfer-Encoding").empty() || (!length.empty() && length != "0");
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

// The data of a request that is kept until its response is counted.
struct PredictServer::Asked {
  Clock::time_point begin;
  std::string route, method, path, peer, origin;
};

PredictServer::PredictServer(const ServeOptions& options, const std::vector<ModelSource>& models, LogSink log,
                             const ProgressCallback& progress)
    : options_(options),
      log_(std::move(log)),
      service_(options, models, log_, progress),
      http_(with_admit(options.http),
            [this](Request&& request, const Respond& respond) { handle(std::move(request), respond); }) {
  add_inference_routes(service_, router_);
  add_predict_routes(service_, router_);
  add_photoprism_routes(service_, router_);
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

HttpOptions PredictServer::with_admit(HttpOptions options) {
  options.admit = [this](const Request& request) { return rejection_by_header(request); };
  return options;
}

bool PredictServer::token_is_right(const Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.header("Authorization");
  return header.starts_with(kBearer) && same_secret(header.substr(kBearer.size()), options_.token);
}

std::optional<Response> PredictServer::rejection_by_header(const Request& request) {
  if (from_foreign_page(request, options_.cors_origins, true)) {
    service_.metrics().rejected("origin");
    Response response = error_response(
        403, "this request was caused by a page of another origin: name the origin when the server is started");
    account(asked_of(request), response);
    return response;
  }
  if (options_.token.empty()) return std::nullopt;
  const bool live = request.path == kLive && (request.method == "GET" || request.method == "HEAD");
  const bool preflight = is_preflight(request) && origin_is_allowed(request, options_.cors_origins);
  // Paths without a token need no body, so no body is read for them.
  if ((live || preflight) && !brings_body(request)) return std::nullopt;
  if (token_is_right(request)) return std::nullopt;
  service_.metrics().rejected("token");
  Response response = rejected_token();
  account(asked_of(request), response);
  return response;
}

PredictServer::Asked PredictServer::asked_of(const Request& request) const {
  const std::string_view pattern = router_.pattern_of(request.method, request.path);
  const bool welcome = origin_is_allowed(request, options_.cors_origins);
  return {Clock::now(), std::string(pattern.empty() ? "other" : pattern),    request.method, request.path,
          request.peer, std::string(welcome ? request.header("Origin") : "")};
}

void PredictServer::account(const Asked& asked, Response& response) {
  if (!asked.origin.empty()) {
    response.headers.emplace_back("Access-Control-Allow-Origin", asked.origin);
    response.headers.emplace_back("Vary", "Origin");
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - asked.begin).count();
  service_.metrics().request(asked.route, response.status, seconds);
  log_({LogLevel::kInfo,
        "request",
        {{"method", asked.method},
         {"path", asked.path},
         {"status", std::int64_t{response.status}},
         {"milliseconds", seconds * 1e3},
         {"bytes", static_cast<std::int64_t>(response.body.size())},
         {"peer", asked.peer}}});
}

void PredictServer::handle(Request&& request, const Respond& respond) {
  // Shared, because callbacks are copied on their way through the queues.
  const auto asked = std::make_shared<const Asked>(asked_of(request));
  const Respond counted = [this, respond, asked](Response response) {
    account(*asked, response);
    respond(std::move(response));
  };
  if (!asked->origin.empty() && is_preflight(request)) return counted(preflight_response());
  try {
    router_(std::move(request), counted);
  } catch (const Error& error) {
    counted(error_response(error));
  }
}

// Calls `look` a few times a second while the server runs.
void PredictServer::watch(const std::function<void()>& look) {
  std::mutex mutex;
  std::condition_variable tick;
  while (running_) {
    {
      std::unique_lock lock(mutex);
      tick.wait_for(lock, kTick);
    }
    try {
      look();
    } catch (const std::bad_alloc&) {
      // The next look may find more memory.
    }
  }
}

void PredictServer::run(const std::function<bool()>& stop_asked, const std::function<bool()>& load_asked) {
  running_ = true;
  // Two threads: a model that takes long to read does not keep the server from stopping.
  bool stopping = false;
  const WorkerThread stopper("watch", [&] {
    watch([&] {
      if (stopping || !stop_asked || !stop_asked()) return;
      http_.stop();
      stopping = true;  // not tried again from here on
      tell_systemd("STOPPING=1");
      log_({LogLevel::kInfo, "stopping", {}});
    });
  });
  Clock::time_point next = Clock::now() + options_.watch;
  bool ready = false;
  const WorkerThread loader("models", [&] {
    watch([&] {
      if (!ready && service_.models().waiting().empty()) {
        ready = true;
        tell_systemd("READY=1");
        log_({LogLevel::kInfo, "ready", {}});
      }
      if (load_asked && load_asked()) service_.models().load_all();
      if (Clock::now() < next) return;
      service_.models().load_changed();
      next = Clock::now() + options_.watch;
    });
  });
  // Also when http_ throws: the two are waited for.
  const std::shared_ptr<void> ended(nullptr, [this](void*) { running_ = false; });
  http_.run();
}

}  // namespace annulus::server
