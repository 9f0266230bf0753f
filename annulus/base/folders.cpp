// Reads the environment and asks the loader where this code lives.
#include "annulus/base/folders.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "annulus/base/error.h"

namespace annulus {
namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// systemd separates the folders of a service by colons.
std::filesystem::path first_of(const std::string& folders) { return folders.substr(0, folders.find(':')); }

}  // namespace

std::filesystem::path cache_folder() {
  if (const char* own = variable("ANNULUS_CACHE")) return own;
  if (const char* service = variable("CACHE_DIRECTORY")) return first_of(service);
  if (const char* shared = variable("XDG_CACHE_HOME")) return std::filesystem::path(shared) / "annulus";
  if (const char* home = variable("HOME")) return std::filesystem::path(home) / ".cache" / "annulus";
  fail(ErrorKind::kUsage,
       "expected ANNULUS_CACHE, CACHE_DIRECTORY, XDG_CACHE_HOME or HOME to name a place for the cache, found none set");
}

std::filesystem::path projects_folder() {
  if (const char* own = variable("ANNULUS_STUDIO")) return own;
  if (const char* service = variable("STATE_DIRECTORY")) return first_of(service) / "studio";
  if (const char* home = variable("HOME")) return std::filesystem::path(home) / "annulus-studio";
  fail(ErrorKind::kUsage,
       "expected a project, or ANNULUS_STUDIO, STATE_DIRECTORY or HOME to name a place for projects, found none set");
}

std::filesystem::path program_folder() {
  std::error_code error;
  Dl_info info{};
  // A program's own name as the loader tells it may be relative or bare; /proc has the truth. A shared object (the
  // Python module) is known by the path it was loaded from.
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (dladdr(reinterpret_cast<const void*>(&program_folder), &info) != 0 && info.dli_fname != nullptr) {
    const auto object = std::filesystem::canonical(info.dli_fname, error);
    if (!error && object != program) return object.parent_path();
  }
  return program.parent_path();
}

std::vector<std::filesystem::path> share_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* chosen = variable("ANNULUS_SHARE")) folders.emplace_back(chosen);
  const std::filesystem::path beside = program_folder();
  folders.push_back(beside / "share" / "annulus");
  folders.push_back(beside.parent_path() / "share" / "annulus");
  folders.emplace_back(ANNULUS_SHARE_FOLDER);
  return folders;
}

}  // namespace annulus
