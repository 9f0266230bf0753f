// Routes of the studio, its events, and the projects it can open.
#include "server/studio/studio_app.h"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "server/studio/studio_api.h"
#include "server/studio/studio_guard.h"
#include "server/studio/studio_page.h"
#include "studio_engine/project/project_list.h"

namespace annulus::server {
namespace {

constexpr int kThreads = 3;
constexpr std::size_t kMostWaiting = 4096;
constexpr std::size_t kMostTabs = 32;
constexpr const char* kTooMany = "too many requests are waiting; try again in a moment";
constexpr const char* kEmptyProject = "my-photos";  // made when the last project is deleted

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

// Returns when nobody uses the studio any more, and its folder may be moved. The caller holds the last reference
// besides those of requests under way.
void close_and_wait(std::shared_ptr<Studio> last) {
  last->stop();
  const std::weak_ptr<Studio> watched = last;
  last.reset();
  while (!watched.expired()) ::usleep(1000);
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
  route("POST", "/api/findings/confirm", post_confirm);
  route("GET", "/api/export/{what}", get_export);
  route("GET", "/api/web-page", get_web_page_size);
  route("POST", "/api/change", post_change);
  route("POST", "/api/predict", post_predict);
  route("POST", "/api/retry", [](Studio& studio, const Request&) {
    studio.retry();
    return Response{};
  });
  route("GET", "/api/projects", [this](Studio&, const Request&) { return list_projects(); });
  route_projects("/api/projects", &StudioApp::open_project);
  route_projects("/api/projects/rename", &StudioApp::rename_open_or_closed);
  route_projects("/api/projects/delete", &StudioApp::delete_open_or_closed);
}

void StudioApp::route(const std::string& method, const std::string& pattern, Handler handler) {
  router_.add(method, pattern, [this, handler = std::move(handler)](Request&& request, const Respond& respond) {
    auto kept = std::make_shared<Request>(std::move(request));
    const auto task = [this, handler, kept, respond] {
      // The studio is released before the response is sent: whoever opened another project may come back to this one at
      // once.
      respond(answered([&] {
        const auto open = studio();
        return open ? handler(*open, *kept) : error_response(503, "the project is being moved; try again in a moment");
      }));
    };
    if (!pool_->submit({task})) respond(error_response(503, kTooMany));
  });
}

void StudioApp::route_projects(const std::string& pattern, Response (StudioApp::*handler)(const Request&)) {
  router_.add("POST", pattern, [this, handler](Request&& request, const Respond& respond) {
    auto kept = std::make_shared<Request>(std::move(request));
    const auto task = [this, handler, kept, respond] { respond(answered([&] { return (this->*handler)(*kept); })); };
    if (!pool_->submit({task})) respond(error_response(503, kTooMany));
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
  const auto last = swap_studio(std::make_shared<Studio>(options, [this] { broadcast(); }));
  studio::remember_project(options_.home, folder);
  broadcast();
  if (last) last->stop();
}

std::shared_ptr<Studio> StudioApp::swap_studio(std::shared_ptr<Studio> next) {
  const std::lock_guard lock(mutex_);
  std::swap(studio_, next);
  return next;
}

bool StudioApp::is_open(const std::filesystem::path& folder) const {
  const auto current = studio()->read([](const Project& project) { return project.folder(); });
  std::error_code ignored;
  return std::filesystem::equivalent(current, folder, ignored);
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
    if (const auto open = studio()) stream->send("state", state_json(*open));
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
  for (const std::string& name : studio::project_names(options_.home)) json["projects"].push_back(name);
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
    if (Project::exists(folder)) {
      fail(ErrorKind::kUsage, "there is a project named \"{}\" already: choose another name", wanted.name);
    }
    Project::create(folder, options_.backbone);
  }
  if (!is_open(folder)) set_studio(folder);
  Response response;
  response.body = "{}";
  return response;
}

Response StudioApp::rename_open_or_closed(const Request& request) {
  const ProjectChoice wanted = parse_project_choice(request.body);
  const std::lock_guard opening(opening_);
  studio::check_rename(options_.home, wanted.name, wanted.to);  // before anything is closed
  const bool open = wanted.name != wanted.to && is_open(options_.home / wanted.name);
  if (open) close_and_wait(swap_studio(nullptr));
  try {
    studio::rename_project(options_.home, wanted.name, wanted.to);
  } catch (const Error&) {
    if (open) set_studio(options_.home / wanted.name);
    throw;
  }
  if (open) set_studio(options_.home / wanted.to);
  Response response;
  response.body = "{}";
  return response;
}

// The project that is open makes room for the first of the others, or for an empty one.
Response StudioApp::delete_open_or_closed(const Request& request) {
  const ProjectChoice wanted = parse_project_choice(request.body);
  studio::check_class_name(wanted.name);
  const std::lock_guard opening(opening_);
  if (is_open(options_.home / wanted.name)) {
    std::vector<std::string> names = studio::project_names(options_.home);
    std::erase(names, wanted.name);
    if (names.empty()) {
      names.push_back(studio::free_project_name(options_.home, kEmptyProject));
      Project::create(options_.home / names.front(), options_.backbone);
    }
    auto last = studio();
    set_studio(options_.home / names.front());
    close_and_wait(std::move(last));
  }
  const auto kept = studio::delete_project(options_.home, wanted.name);
  Response response;
  response.body = nlohmann::ordered_json{{"kept", kept.string()}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return response;
}

}  // namespace annulus::server
