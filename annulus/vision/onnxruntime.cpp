// Finds libonnxruntime.so.1, asks it for its table of functions and makes its one environment.
#include "annulus/vision/onnxruntime.h"

#include "annulus/base/error.h"

#ifdef ANNULUS_WITH_VISION

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <cstdlib>
#include <vector>

#include "annulus/base/folders.h"

namespace annulus {
namespace {

// The runtime's own messages are dropped: what matters comes back as a status.
void ORT_API_CALL drop_message(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

std::vector<std::string> candidates() {
  constexpr const char* kName = "libonnxruntime.so.1";
  const auto beside = program_folder();
  return {beside / kName, beside.parent_path() / "lib" / kName, cache_folder() / "onnxruntime" / kName, kName,
          "libonnxruntime.so"};
}

// Fills in `runtime` from one file; when that fails, returns why.
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

OnnxRuntime open_runtime() {
  OnnxRuntime runtime;
  // Read by the OpenMP that some builds of the runtime use; a waiting thread must not burn a core.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  if (const char* chosen = std::getenv("ANNULUS_ONNXRUNTIME"); chosen != nullptr && *chosen != '\0') {
    const std::string why = try_open(chosen, runtime);
    if (!why.empty()) {
      fail(ErrorKind::kUsage, "expected ANNULUS_ONNXRUNTIME to name ONNX Runtime's shared library: {}", why);
    }
  } else {
    std::string unfit;  // a library that is there but cannot be used explains more than five that are not
    for (const std::string& file : candidates()) {
      const std::string why = try_open(file, runtime);
      if (why.empty()) break;
      if (why.find("No such file") == std::string::npos) unfit += "; " + why;
    }
    if (runtime.api == nullptr) {
      fail(ErrorKind::kUsage,
           "image commands need ONNX Runtime, and libonnxruntime.so.1 was found neither beside the program, nor in the "
           "cache, nor in the system: run the fetch script (scripts/fetch onnxruntime) or set ANNULUS_ONNXRUNTIME{}",
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

bool built_with_vision() { return true; }

}  // namespace annulus

#else

namespace annulus {

const OnnxRuntime& onnxruntime() {
  fail(ErrorKind::kUsage,
       "this build of annulus has no image support: run scripts/fetch onnxruntime-headers onnxruntime and build it "
       "again "
       "(feature files work without)");
}

bool built_with_vision() { return false; }

}  // namespace annulus

#endif
