// What writers of files and folders need of the folder around them.
#pragma once

#include <filesystem>

namespace annulus {

// The folder that holds a file or folder: "." for a name without one.
std::filesystem::path parent_folder(const std::filesystem::path& path);

// Makes the names in a folder durable, where its file system can.
void sync_folder(const std::filesystem::path& folder);

}  // namespace annulus
