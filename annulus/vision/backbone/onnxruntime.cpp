// Finds libonnxruntime.so.1, gets its table of functions and creates its environment.
#include "annulus/vision/backbone/onnxruntime.h"

#include "annulus/base/error.h"

#ifdef ANNULUS_WITH_VISION

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <cstdlib>
#include <vector>

#include "annulus/base/folders.h"

namespace annulus {
namespace {

// The runtime's own messages are dropped: errors are returned as a status.
void ORT_API_CALL drop_message(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

std::vector<std::string> candidates() {
  constexpr const char* kName = "libonnxruntime.so.1";
  const auto beside = program_folder();
  // The last is where packages put it, which is no place for the libraries of others to be found by the loader.
  std::vector<std::string> files{beside / kName, beside.parent_path() / "lib" / kName,
                                 beside.parent_path() / "lib" / "annulus" / kName};
  try {
    files.push_back(cache_folder() / "onnxruntime" / kName);
  } catch (const Error&) {
    // No variable names a cache: the library may be in the system.
  }
  files.insert(files.end(), {kName, "libonnxruntime.so"});
  return files;
}

// Opens the library in one file and fills in `runtime`; returns the reason if that fails.
std::string try_open(const std::string& file, OnnxRuntime& runtime) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  using GetApiBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) return file + " has no function OrtGetApiBase";
  const OrtApiBase* base = get_base();
  runtime.api = base->GetApi(ORT_API_VERSION);
  runtime.version = base->GetVersionString();
  runtime.library = file;
  if (runtime.api != nullptr) return {};
  return fmt::format("{} is ONNX Runtime {}, expected 1.{} or newer", file, runtime.version, ORT_API_VERSION);
}

// The file that ANNULUS_ONNXRUNTIME names; empty: none.
std::string chosen_library() {
  const char* chosen = std::getenv("ANNULUS_ONNXRUNTIME");
  return chosen == nullptr ? "" : chosen;
}

bool is_missing(const std::string& why) { return why.find("No such file") != std::string::npos; }

OnnxRuntime open_runtime() {
  OnnxRuntime runtime;
  // For the OpenMP that some builds of the runtime use: waiting threads must not spin.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  if (const std::string chosen = chosen_library(); !chosen.empty()) {
    const std::string why = try_open(chosen, runtime);
    if (!why.empty()) {
      fail(ErrorKind::kUsage, "expected ANNULUS_ONNXRUNTIME to name ONNX Runtime's shared library: {}", why);
    }
  } else {
    std::string unfit;  // a library that exists but cannot be used is the better explanation
    for (const std::string& file : candidates()) {
      const std::string why = try_open(file, runtime);
      if (why.empty()) break;
      if (!is_missing(why)) unfit += "; " + why;
    }
    if (runtime.api == nullptr) {
      fail(ErrorKind::kUsage,
           "image commands need ONNX Runtime, and libonnxruntime.so.1 was found neither beside the program, nor in the "
           "cache, nor in the system: run share/annulus/fetch onnxruntime or set ANNULUS_ONNXRUNTIME{}",
           unfit);
    }
  }
  OrtStatus* status = runtime.api->CreateEnvWithCustomLogger(drop_message, nullptr, ORT_LOGGING_LEVEL_FATAL, "annulus",
                                                             &runtime.environment);
  if (status != nullptr) {
    const std::string why = runtime.api->GetErrorMessage(status);
    runtime.api->ReleaseStatus(status);
    fail(ErrorKind::kInternal, "ONNX Runtime {} could not start: {}", runtime.version, why);
  }
  return runtime;
}

}  // namespace

const OnnxRuntime& onnxruntime() {
  static const OnnxRuntime runtime = open_runtime();  // tried again on the next call when it throws
  return runtime;
}

bool onnxruntime_found() {
  if (!chosen_library().empty()) return true;
  OnnxRuntime runtime;
  for (const std::string& file : candidates()) {
    if (!is_missing(try_open(file, runtime))) return true;
  }
  return false;
}

bool built_with_vision() { return true; }

}  // namespace annulus

#else

namespace annulus {

const OnnxRuntime& onnxruntime() {
  fail(ErrorKind::kUsage,
       "this build of annulus was asked to do without images (ANNULUS_WITH_VISION=OFF) and reads feature files only: "
       "build it again without that option");
}

bool onnxruntime_found() { return false; }

bool built_with_vision() { return false; }

}  // namespace annulus

#endif
