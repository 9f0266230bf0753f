// The studio as a web application: routes, access by key, and events to every open tab.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/http/http.h"
#include "server/http/router.h"
#include "server/http/task_pool.h"
#include "studio_engine/studio.h"

namespace annulus::server {

using studio::Studio;

struct StudioAppOptions {
  std::filesystem::path home;     // folder of projects that the page lists and makes
  std::filesystem::path project;  // to open first
  std::string backbone;           // of projects that the page makes
  std::string notice;             // that the page shows once; empty: none
  std::filesystem::path cache;    // of features; empty: the user's
  int threads = 0;                // 0: all processors
};

// Every request needs the key, which is in the address that the program prints and becomes a cookie. Requests that
// pages of other origins cause are rejected even with the cookie (studio_guard.h). All but the page itself is answered
// by a pool of threads, not by those that call handle().
class StudioApp {
 public:
  explicit StudioApp(StudioAppOptions options);
  ~StudioApp();
  StudioApp(const StudioApp&) = delete;
  StudioApp& operator=(const StudioApp&) = delete;

  const std::string& key() const { return key_; }
  void handle(Request&& request, const Respond& respond);

 private:
  using Handler = std::function<Response(Studio&, const Request&)>;

  void add_routes();
  void route(const std::string& method, const std::string& pattern, Handler handler);
  // A request that may close the project: its handler must not keep the studio alive.
  void route_projects(const std::string& pattern, Response (StudioApp::*handler)(const Request&));
  Response open_events();
  Response list_projects() const;
  Response open_project(const Request& request);
  Response rename_open_or_closed(const Request& request);
  Response delete_open_or_closed(const Request& request);
  std::shared_ptr<Studio> studio() const;  // null while the open project is moved
  bool is_open(const std::filesystem::path& folder) const;
  void set_studio(const std::filesystem::path& folder);
  std::shared_ptr<Studio> swap_studio(std::shared_ptr<Studio> next);
  void broadcast();

  StudioAppOptions options_;
  std::string key_;
  Router router_;
  // Lock order: as they stand here, then those of the studio.
  std::mutex opening_;        // held while another project is opened: one at a time
  std::mutex sending_;        // held while events are sent, so that they arrive in order
  mutable std::mutex mutex_;  // guards the two below; never held while the studio is called
  std::shared_ptr<Studio> studio_;
  std::vector<std::shared_ptr<EventStream>> streams_;
  std::unique_ptr<TaskPool> pool_;
};

}  // namespace annulus::server
