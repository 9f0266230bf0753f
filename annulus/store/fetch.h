// Runs the fetch script (scripts/fetch, installed as share/annulus/fetch): the only way the program downloads anything.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace annulus {

// The folder that holds the item `name` of scripts/tarballs.txt; downloads it first when it is not there. Throws
// Error{kIo} with the script's own sentence when that fails (no network, no npm, a wrong checksum).
std::filesystem::path fetch(const std::string& name);

// The same without ever downloading: nothing when the item is not there.
std::optional<std::filesystem::path> fetched(const std::string& name);

}  // namespace annulus
