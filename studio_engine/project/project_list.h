// The projects of a folder: which there are, which was open last, and their names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace annulus::studio {

// Names of the projects in `home`, in the order of their bytes.
std::vector<std::string> project_names(const std::filesystem::path& home);

// HOME/.last-project has the path of the project that was open last, which may be elsewhere. Remembering fails without
// an error: where nothing can be written, the next start has no project to go back to.
void remember_project(const std::filesystem::path& home, const std::filesystem::path& folder);
// Empty when there is none, or it is gone.
std::filesystem::path last_project(const std::filesystem::path& home);

// Throws Error{kUsage} when there is no project named `from`, or `to` is taken or cannot be a name.
void check_rename(const std::filesystem::path& home, const std::string& from, const std::string& to);
// Checks, then renames; the project may not be open. Throws Error{kIo} when the folder cannot be moved.
void rename_project(const std::filesystem::path& home, const std::string& from, const std::string& to);
// Moves the project, which may not be open, to HOME/.deleted and returns where it is now: people gather photos for
// hours and click in a second.
std::filesystem::path delete_project(const std::filesystem::path& home, const std::string& name);

// A name like `wanted` that nothing in `home` has: "birds", else "birds-2", "birds-3", ...
std::string free_project_name(const std::filesystem::path& home, const std::string& wanted);

}  // namespace annulus::studio
