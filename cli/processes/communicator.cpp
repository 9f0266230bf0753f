// Finds annulus_mpi.so and asks it for the communicator.
#include "cli/processes/communicator.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/version.h"
#include "cli/processes/launch.h"

namespace annulus::cli {
namespace {

constexpr const char* kName = "annulus_mpi.so";

using End = void (*)(int);
End end_of_open_communicator = nullptr;

std::vector<std::filesystem::path> places() {
  const std::filesystem::path beside = program_folder();
  return {beside / kName, beside.parent_path() / ANNULUS_LIBRARY_FOLDER / "annulus" / kName};
}

void* open_object() {
  std::string unfit;  // why an object that is there cannot be used
  for (const auto& file : places()) {
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

std::string mpi_module() {
  for (const auto& file : places()) {
    if (std::filesystem::exists(file)) return file.string();
  }
  return {};
}

std::unique_ptr<Communicator> open_communicator() {
  if (launch().size == 1) return nullptr;
  void* object = open_object();
  using Version = const char* (*)();
  using Make = Communicator* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(object, "annulus_communicator_version"));
  const auto make = reinterpret_cast<Make>(dlsym(object, "annulus_open_communicator"));
  const auto end = reinterpret_cast<End>(dlsym(object, "annulus_end_communicator"));
  if (version == nullptr || make == nullptr || end == nullptr || std::string_view(version()) != kVersion) {
    fail(ErrorKind::kUsage, "expected {} of annulus {}, found that of another version", kName, kVersion);
  }
  std::unique_ptr<Communicator> communicator(make());
  if (communicator->size() != launch().size) {
    fail(ErrorKind::kUsage,
         "the launcher started {} processes, but MPI sees {}: start them by the mpirun of the MPI that {} "
         "was built with",
         launch().size, communicator->size(), kName);
  }
  // Not before the communicator is known to be one: there would be nobody to end.
  end_of_open_communicator = end;
  return communicator;
}

void end_communicator(int code) {
  if (end_of_open_communicator != nullptr) end_of_open_communicator(code);
}

}  // namespace annulus::cli
