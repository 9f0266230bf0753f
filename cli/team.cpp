// Finds annulus_mpi.so and asks it for the team.
#include "cli/team.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/version.h"
#include "cli/launch.h"

namespace annulus::cli {
namespace {

constexpr const char* kName = "annulus_mpi.so";

using End = void (*)(int);
End end_of_open_team = nullptr;

void* open_object() {
  const std::filesystem::path beside = program_folder();
  std::string unfit;  // why an object that is there cannot be used
  for (const auto& file : {beside / kName, beside.parent_path() / ANNULUS_LIBRARY_FOLDER / "annulus" / kName}) {
    // MPI opens parts of itself that look for its symbols among the global ones.
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) return handle;
    if (std::filesystem::exists(file)) unfit = fmt::format(": {}", dlerror());
  }
  fail(ErrorKind::kUsage,
       "a fit by {} processes needs MPI, and {} was not found beside the program or could not be opened (build with "
       "libopenmpi-dev, or start one process){}",
       launch().size, kName, unfit);
}

}  // namespace

std::unique_ptr<Team> open_team() {
  if (launch().size == 1) return nullptr;
  void* object = open_object();
  using Version = const char* (*)();
  using Make = Team* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(object, "annulus_team_version"));
  const auto make = reinterpret_cast<Make>(dlsym(object, "annulus_open_team"));
  const auto end = reinterpret_cast<End>(dlsym(object, "annulus_end_team"));
  if (version == nullptr || make == nullptr || end == nullptr || std::string_view(version()) != kVersion) {
    fail(ErrorKind::kUsage, "expected {} of annulus {}, found that of another version", kName, kVersion);
  }
  std::unique_ptr<Team> team(make());
  if (team->size() != launch().size) {
    fail(ErrorKind::kUsage,
         "the launcher started {} processes, but MPI sees {}: start them by the mpirun of the MPI that {} "
         "was built with",
         launch().size, team->size(), kName);
  }
  // Not before the team is known to be one: there would be nobody to end.
  end_of_open_team = end;
  return team;
}

void end_team(int code) {
  if (end_of_open_team != nullptr) end_of_open_team(code);
}

}  // namespace annulus::cli
