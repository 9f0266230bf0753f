// annulus studio: a local web page on which people train a model by dropping photos.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/worker_thread.h"
#include "cli/command.h"
#include "cli/demo/emoji.h"
#include "cli/encoder.h"
#include "cli/feature_option.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"
#include "server/http/http_server.h"
#include "server/studio/studio_app.h"
#include "server/studio/studio_page.h"
#include "studio_engine/project/import_folder.h"
#include "studio_engine/project/project.h"
#include "studio_engine/project/project_list.h"

namespace annulus::cli {
namespace {

using studio::Project;

struct StudioCommand {
  std::string project;
  std::string home;
  std::uint16_t port = 0;
  bool open = true;
  EncoderOptions encoder;
  RunOptions run;
};

constexpr std::size_t kMostBodyBytes = std::size_t{64} << 20;

// Well-known emoji, some of them much alike, as drawn by three vendors.
EmojiOptions first_emoji() {
  EmojiOptions options;
  options.vendors = {"noto", "twemoji", "openmoji"};
  options.names = {
      "airplane",        "anchor",    "avocado",  "balloon",    "banana",   "bicycle",  "birthday-cake", "bus",
      "butterfly",       "cactus",    "camera",   "carrot",     "cat-face", "cherries", "crown",         "dog-face",
      "dolphin",         "elephant",  "fire",     "fox",        "ghost",    "grapes",   "guitar",        "hamburger",
      "hot-air-balloon", "key",       "lemon",    "lion",       "mushroom", "octopus",  "owl",           "panda",
      "penguin",         "pineapple", "pizza",    "red-apple",  "rocket",   "sailboat", "snowman",       "sunflower",
      "tiger-face",      "turtle",    "umbrella", "watermelon", "whale"};
  return options;
}

// Made under another name and renamed when complete: a first start that was interrupted begins again.
void make_emoji_project(const std::filesystem::path& folder, const StudioCommand& options) {
  ProgressBar bar(options.run.quiet);
  const std::filesystem::path partial = folder.parent_path() / ".emoji.partial";
  if (!Project::exists(partial)) Project::create(partial, options.encoder.backbone);
  EmojiOptions emoji = first_emoji();
  emoji.threads = options.run.threads;
  make_emoji(partial / "photos", emoji, bar.callback());
  stop_if_interrupted();
  std::error_code error;
  std::filesystem::rename(partial, folder, error);
  if (error) {
    fail(ErrorKind::kIo, "{}: cannot be moved to {}: {}", partial.string(), folder.string(), error.message());
  }
}

void make_home(const std::filesystem::path& home) {
  std::error_code error;
  std::filesystem::create_directories(home, error);
  if (error) {
    fail(ErrorKind::kIo, "{}: expected a folder for projects that can be made, found: {}; name another with --home",
         home.string(), error.message());
  }
}

// Whether it is a folder with anything in it that is not hidden.
bool holds_entries(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return !error && std::any_of(begin(entries), end(entries),
                               [](const auto& entry) { return !entry.path().filename().string().starts_with("."); });
}

// A folder of photos becomes a project in the home folder, by copies.
std::filesystem::path import_photos(const StudioCommand& options, const std::filesystem::path& home,
                                    std::string& notice) {
  ProgressBar bar(options.run.quiet);
  const studio::ImportedFolder imported =
      studio::import_folder(options.project, home, options.encoder.backbone, bar.callback());
  for (const std::string& note : imported.notes) notice += (notice.empty() ? "" : " ") + note;
  return imported.project;
}

// The project to open. `notice` says what went wrong on the way, for the page to show.
std::filesystem::path find_project(const StudioCommand& options, const std::filesystem::path& home,
                                   std::string& notice) {
  if (!options.project.empty()) {
    if (Project::exists(options.project)) return options.project;
    if (holds_entries(options.project)) {
      make_home(home);
      return import_photos(options, home, notice);
    }
    Project::create(options.project, options.encoder.backbone);
    return options.project;
  }
  make_home(home);
  const std::filesystem::path last = studio::last_project(home);
  if (!last.empty()) return last;
  const std::filesystem::path emoji = home / "emoji";
  if (Project::exists(emoji)) return emoji;
  try {
    make_emoji_project(emoji, options);
    return emoji;
  } catch (const Error& failure) {
    if (failure.kind() == ErrorKind::kCancelled) throw;
    notice = fmt::format("The emoji project could not be made ({}). This is an empty project instead.", failure.what());
  }
  const std::filesystem::path empty = home / "my-photos";
  if (!Project::exists(empty)) Project::create(empty, options.encoder.backbone);
  return empty;
}

// The browser outlives the studio: it gets its own session and no open file of ours (the listening socket would keep
// the port in use). The shell in between ends at once, so that no child is left behind.
void open_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const char* const words[] = {"sh",   "-c", "xdg-open \"$1\" </dev/null >/dev/null 2>&1 &", "sh", address.c_str(),
                               nullptr};
  pid_t shell = 0;
  // No error when there is no browser: the address is printed anyway.
  if (::posix_spawn(&shell, "/bin/sh", &files, &attributes, const_cast<char* const*>(words), environ) == 0) {
    while (::waitpid(shell, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
}

void run_studio(StudioCommand options) {
  if (server::studio_page().html.empty()) {
    fail(ErrorKind::kUsage, "this program was built without the studio's page: build it where npm can be run");
  }
  outlive_readers();
  if (options.encoder.backbone.empty()) options.encoder.backbone = kQuickBackbone;
  server::StudioAppOptions app_options;
  app_options.home =
      std::filesystem::absolute(options.home.empty() ? projects_folder() : std::filesystem::path(options.home));
  app_options.project = find_project(options, app_options.home, app_options.notice);
  app_options.backbone = options.encoder.backbone;
  app_options.cache = options.encoder.cache;
  app_options.threads = options.run.threads;
  server::StudioApp app(std::move(app_options));
  server::HttpOptions http;
  http.port = options.port;
  http.max_body_bytes = kMostBodyBytes;
  server::HttpServer web(http, [&app](server::Request&& request, const server::Respond& respond) {
    app.handle(std::move(request), respond);
  });
  const std::string address = fmt::format("http://127.0.0.1:{}/?key={}", web.port(), app.key());
  fmt::print("{}\n", address);
  if (!options.run.quiet) fmt::print("Open this address in a browser; Ctrl-C stops the studio.\n");
  std::fflush(stdout);
  if (options.open) open_browser(address);
  std::atomic<bool> ended{false};
  const WorkerThread watch("studio-stop", [&] {
    while (!interrupted() && !ended) ::usleep(50'000);
    web.stop();
  });
  const struct Ending {
    std::atomic<bool>& flag;
    ~Ending() { flag = true; }
  } ending{ended};
  web.run();
}

}  // namespace

void add_studio(CLI::App& app, Action& action) {
  const auto options = std::make_shared<StudioCommand>();
  CLI::App& command = *app.add_subcommand("studio", "Train a model on a local web page by dropping photos");
  command
      .add_option("PROJECT", options->project,
                  "Folder of the project, made when it is new, or of photos, which are copied into a project of the "
                  "home folder; default: "
                  "the project that was open last, at first one of emoji to look at")
      ->type_name("");
  command
      .add_option("--home", options->home,
                  "Folder whose projects the page lists; default: $ANNULUS_STUDIO, else studio in "
                  "$STATE_DIRECTORY (of a systemd service), else ~/annulus-studio")
      ->type_name("DIR");
  command.add_option("--port", options->port, "Port to listen on, on this machine only; 0: any that is free")
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("!--no-open", options->open, "Do not open a browser, only print the address");
  command
      .add_option("--backbone", options->encoder.backbone,
                  std::string("Network of new projects, as annulus backbones lists; default: ") + kQuickBackbone)
      ->type_name("NAME|FILE");
  add_feature_option(command, options->encoder.backbone);
  command.add_option("--cache", options->encoder.cache, "Folder of computed features; default: the user's cache")
      ->type_name("DIR");
  add_offline(command);
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_example(command, "  annulus studio\n  annulus studio birds/ --backbone resnet50\n  annulus studio photos/");
  command.callback([options, &action] { action = [options] { run_studio(*options); }; });
}

}  // namespace annulus::cli
