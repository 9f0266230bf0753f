// Routes of the studio, its events, and the projects it can open.
#include "server/studio/studio_app.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "server/studio/studio_api.h"
#include "server/studio/studio_guard.h"
#include "server/studio/studio_page.h"

namespace annulus::server {
namespace {

constexpr int kThreads = 3;
constexpr std::size_t kMostWaiting = 4096;
constexpr std::size_t kMostTabs = 32;

Response asset(std::string_view text, const char* content_type) {
  Response response;
  response.content_type = content_type;
  response.body = std::string(text);
  response.headers.emplace_back("Cache-Control", "no-store");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; media-src "
      "'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  return response;
}

template <class Work>
Response answered(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    return error_response(error);
  } catch (const std::exception& error) {
    return error_response(500, fmt::format("unexpected error: {}", error.what()));
  }
}

}  // namespace

StudioApp::StudioApp(StudioAppOptions options)
    : options_(std::move(options)),
      key_(new_key()),
      pool_(std::make_unique<TaskPool>("studio-api", kThreads, kMostWaiting)) {
  add_routes();
  set_studio(options_.project);
}

StudioApp::~StudioApp() {
  // Requests end first, then the work that broadcasts changes; both use the other members.
  pool_.reset();
  std::shared_ptr<Studio> last;
  {
    const std::lock_guard lock(mutex_);
    last = std::move(studio_);
    for (const auto& stream : streams_) stream->close();
  }
  if (last) last->stop();
}

void StudioApp::add_routes() {
  const auto page = studio_page();
  router_.add("GET", "/studio.js", [page](Request&&, const Respond& respond) {
    respond(asset(page.script, "text/javascript; charset=utf-8"));
  });
  router_.add("GET", "/studio.css",
              [page](Request&&, const Respond& respond) { respond(asset(page.style, "text/css; charset=utf-8")); });
  router_.add("GET", "/",
              [page](Request&&, const Respond& respond) { respond(asset(page.html, "text/html; charset=utf-8")); });
  router_.add("GET", "/api/events", [this](Request&&, const Respond& respond) { respond(open_events()); });
  route("GET", "/api/state", [this](Studio& studio, const Request&) {
    Response response;
    response.body = state_json(studio, options_.notice.empty() ? studio.cache_warning() : options_.notice);
    return response;
  });
  route("GET", "/api/classes", get_classes);
  route("GET", "/api/photos", get_photos);
  route("POST", "/api/photos", post_photos);
  route("GET", "/api/inbox", get_inbox);
  route("GET", "/api/inbox/group", get_inbox_group);
  route("GET", "/api/inbox/next", get_inbox_next);
  route("GET", "/api/thumbnail/{id}", get_thumbnail);
  route("GET", "/api/covers/{ids}", get_covers);
  route("GET", "/api/analysis", get_analysis);
  route("GET", "/api/map", get_map);
  route("GET", "/api/export/{what}", get_export);
  route("GET", "/api/web-page", get_web_page_size);
  route("POST", "/api/change", post_change);
  route("POST", "/api/predict", post_predict);
  route("POST", "/api/retry", [](Studio& studio, const Request&) {
    studio.retry();
    return Response{};
  });
  route("GET", "/api/projects", [this](Studio&, const Request&) { return list_projects(); });
  route("POST", "/api/projects", [this](Studio&, const Request& request) { return open_project(request); });
}

void StudioApp::route(const std::string& method, const std::string& pattern, Handler handler) {
  router_.add(method, pattern, [this, handler = std::move(handler)](Request&& request, const Respond& respond) {
    auto kept = std::make_shared<Request>(std::move(request));
    const auto task = [this, handler, kept, respond] {
      // The studio is released before the response is sent: whoever opened another project may come back to this one at
      // once.
      respond(answered([&] { return handler(*studio(), *kept); }));
    };
    if (!pool_->submit({task})) respond(error_response(503, "too many requests are waiting; try again in a moment"));
  });
}

void StudioApp::handle(Request&& request, const Respond& respond) {
  // The address that the program prints: the key becomes a cookie and leaves the address bar.
  if (brings_key(request, key_)) {
    Response response;
    response.status = 303;
    response.headers.emplace_back("Location", "/");
    response.headers.emplace_back("Set-Cookie",
                                  fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(request), key_));
    respond(std::move(response));
    return;
  }
  const int rejected = rejection_of(request, key_);
  if (rejected != 0) {
    respond(error_response(rejected, rejected == 401 ? "expected the key: open the address that annulus studio printed"
                                                     : "rejected: the request was caused by a page of another origin"));
    return;
  }
  router_(std::move(request), respond);
}

std::shared_ptr<Studio> StudioApp::studio() const {
  const std::lock_guard lock(mutex_);
  return studio_;
}

void StudioApp::set_studio(const std::filesystem::path& folder) {
  studio::StudioOptions options;
  options.project = folder;
  options.cache = options_.cache;
  options.threads = options_.threads;
  options.id = new_key();
  auto next = std::make_shared<Studio>(options, [this] { broadcast(); });
  {
    const std::lock_guard lock(mutex_);
    std::swap(studio_, next);
  }
  broadcast();
  if (next) next->stop();
}

Response StudioApp::open_events() {
  Response response;
  response.stream = [this](const std::shared_ptr<EventStream>& stream) {
    const std::lock_guard sending(sending_);
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(streams_, [](const auto& other) { return !other->connected(); });
      if (streams_.size() >= kMostTabs) {
        stream->close();
        return;
      }
      streams_.push_back(stream);
    }
    stream->send("state", state_json(*studio()));
  };
  return response;
}

// Called by the thread that made a change. One at a time, so that no state of a closed project follows that of the
// next.
void StudioApp::broadcast() {
  const std::lock_guard sending(sending_);
  const auto current = studio();
  if (!current) return;
  std::vector<std::shared_ptr<EventStream>> streams;
  {
    const std::lock_guard lock(mutex_);
    streams = streams_;
  }
  if (streams.empty()) return;
  const std::string json = state_json(*current);
  bool gone = false;
  for (const auto& stream : streams) gone = !stream->send("state", json) || gone;
  if (!gone) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& stream) { return !stream->connected(); });
}

Response StudioApp::list_projects() const {
  nlohmann::ordered_json json = {{"home", options_.home.string()}, {"projects", nlohmann::ordered_json::array()}};
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.home, error)) {
    if (Project::exists(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) json["projects"].push_back(name);
  Response response;
  response.body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return response;
}

Response StudioApp::open_project(const Request& request) {
  const ProjectChoice wanted = parse_project_choice(request.body);
  // A name in the home folder, never a path.
  studio::check_class_name(wanted.name);
  const auto folder = options_.home / wanted.name;
  // One at a time: of a double click, the second finds the project open here.
  const std::lock_guard opening(opening_);
  if (wanted.make) {
    if (Project::exists(folder)) fail(ErrorKind::kUsage, "there is a project named \"{}\" already", wanted.name);
    Project::create(folder, options_.backbone);
  }
  const auto current = studio()->read([](const Project& project) { return project.folder(); });
  std::error_code ignored;
  if (!std::filesystem::equivalent(current, folder, ignored)) set_studio(folder);
  Response response;
  response.body = "{}";
  return response;
}

}  // namespace annulus::server
