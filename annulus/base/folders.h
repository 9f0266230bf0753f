// Where Annulus keeps what it downloads and computes, and where its own installed files are.
#pragma once

#include <filesystem>
#include <vector>

namespace annulus {

// $ANNULUS_CACHE, else $XDG_CACHE_HOME/annulus, else ~/.cache/annulus; the folder need not exist.
// Throws Error{kUsage} when none of the three variables is set.
std::filesystem::path cache_folder();

// The folder of the program or shared object that this code was linked into.
std::filesystem::path program_folder();

// Folders that may hold the project's data files (the fetch script), best first: $ANNULUS_SHARE, beside the program
// (share/annulus, ../share/annulus), the folder chosen when the project was configured.
std::vector<std::filesystem::path> share_folders();

}  // namespace annulus
