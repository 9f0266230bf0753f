// Packs a folder into a zip archive.
#pragma once

#include <filesystem>
#include <string>

namespace annulus {

// Writes the files of `folder` (not those of folders in it) to the archive `target`, deflated, under `prefix`, e.g.
// "page/". The same files give the same bytes. The archive appears whole or not at all. Throws Error{kIo}.
void zip_folder(const std::filesystem::path& folder, const std::string& prefix, const std::filesystem::path& target);

}  // namespace annulus
