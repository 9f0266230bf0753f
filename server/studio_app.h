// The studio as a web application: who may ask, what is answered, and events to every open tab.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/http.h"
#include "server/router.h"
#include "server/studio.h"
#include "server/task_pool.h"

namespace annulus::server {

struct StudioAppOptions {
  std::filesystem::path home;     // folder of projects that the page lists and makes
  std::filesystem::path project;  // to open first
  std::string backbone;           // of projects that the page makes
  std::string notice;             // shown once at the top of the page; empty: nothing
  std::filesystem::path cache;    // of features; empty: the user's
  int threads = 0;
};

// Only who has the key may ask for anything: it stands in the address that the program prints, and becomes a cookie.
// Requests that pages of other origins cause are refused even with the cookie. Everything but the page itself is
// answered off the threads that call handle().
class StudioApp {
 public:
  explicit StudioApp(StudioAppOptions options);
  ~StudioApp();
  StudioApp(const StudioApp&) = delete;
  StudioApp& operator=(const StudioApp&) = delete;

  const std::string& key() const { return key_; }
  void handle(Request&& request, const Respond& respond);

 private:
  using Answer = std::function<Response(Studio&, const Request&)>;

  void add_routes();
  void route(const std::string& method, const std::string& pattern, Answer answer);
  Response open_events();
  Response list_projects() const;
  Response open_project(const Request& request);
  std::shared_ptr<Studio> studio() const;
  void set_studio(const std::filesystem::path& folder);
  void broadcast();

  StudioAppOptions options_;
  std::string key_;
  Router router_;
  std::mutex opening_;        // held while another project is opened; before both below
  std::mutex telling_;        // held while events are sent; before mutex_
  mutable std::mutex mutex_;  // guards the two below
  std::shared_ptr<Studio> studio_;
  std::vector<std::shared_ptr<EventStream>> streams_;
  std::unique_ptr<TaskPool> pool_;
};

// Of the key: ports of one machine share their cookies.
std::string cookie_name(const Request& request);

// Random, 32 hexadecimal digits, from the operating system.
std::string new_key();

// Why a request is refused before anything is looked at; 0: it is not. `key` is in the cookie named after the port of
// the Host header, or in the header X-Annulus-Key.
int refusal_of(const Request& request, const std::string& key);

// Whether the request is for the address that the program prints: the page, with the key in the query.
bool brings_key(const Request& request, const std::string& key);

}  // namespace annulus::server
