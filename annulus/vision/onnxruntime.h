// ONNX Runtime, opened when it is first needed: a program built with image support still runs without it.
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

// Opens the library on the first call and keeps it for the life of the process. Looks at $ANNULUS_ONNXRUNTIME (a file),
// beside the program and in ../lib, in the cache folder, then wherever the system's loader looks. Throws Error{kUsage}
// that says how to get it.
const OnnxRuntime& onnxruntime();

// True when this build can run backbones at all (ANNULUS_WITH_VISION).
bool built_with_vision();

}  // namespace annulus
