// Makes a project of a folder of photos, which stays as it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/progress.h"

namespace annulus::studio {

struct ImportedFolder {
  std::filesystem::path project;
  std::vector<std::string> notes;  // one sentence each: what was left out and why; empty for a folder imported before
};

// Copies the photos that list_images finds under `photos` into a new project in `home`, named after the folder: in a
// data set of parts (train/, test/) those for training, and in a folder without classes all as one class. When `home`
// has a project that was made of this folder, that one is returned, as it is now. Throws Error{kInput} when there are
// no photos, Error{kIo} when they cannot be copied, and Error{kCancelled} when progress asks to stop; the next call
// then begins again.
ImportedFolder import_folder(const std::filesystem::path& photos, const std::filesystem::path& home,
                             const std::string& backbone, const ProgressCallback& progress = {});

}  // namespace annulus::studio
