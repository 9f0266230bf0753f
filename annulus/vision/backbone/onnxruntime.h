// ONNX Runtime, loaded on first use: a program built with image support still runs without it.
#pragma once

#include <string>

struct OrtApi;
struct OrtEnv;

namespace annulus {

struct OnnxRuntime {
  const OrtApi* api = nullptr;
  OrtEnv* environment = nullptr;
  std::string library;  // the file it came from
  std::string version;  // e.g. "1.24.3"
};

// Opens the library on the first call and keeps it for the life of the process. Searches $ANNULUS_ONNXRUNTIME (a file),
// beside the program and in ../lib, the cache folder, then the system's loader. Throws Error{kUsage} that says how to
// get it.
const OnnxRuntime& onnxruntime();

// Whether the library is there to be opened. Also true where ANNULUS_ONNXRUNTIME names a file that cannot be, and where
// one was found that cannot be used: onnxruntime() then says why.
bool onnxruntime_found();

// True when this build can run backbones at all (ANNULUS_WITH_VISION).
bool built_with_vision();

}  // namespace annulus
