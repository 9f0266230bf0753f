// Where Annulus keeps what it downloads, computes and is given, and where its own installed files are.
#pragma once

#include <filesystem>
#include <vector>

namespace annulus {

// $ANNULUS_CACHE, else $CACHE_DIRECTORY (of a systemd service), else $XDG_CACHE_HOME/annulus, else ~/.cache/annulus;
// the folder need not exist. Throws Error{kUsage} when none of the variables is set.
std::filesystem::path cache_folder();

// Where the studio's projects are unless the user names a place: $ANNULUS_STUDIO, else $STATE_DIRECTORY/studio (of a
// systemd service), else ~/annulus-studio; the folder need not exist. Throws Error{kUsage} when none of the variables
// is set.
std::filesystem::path projects_folder();

// The folder of the program or shared object that this code was linked into.
std::filesystem::path program_folder();

// Folders that may hold the project's data files (the fetch script), best first: $ANNULUS_SHARE, beside the program
// (share/annulus, ../share/annulus), the folder chosen when the project was configured.
std::vector<std::filesystem::path> share_folders();

}  // namespace annulus
