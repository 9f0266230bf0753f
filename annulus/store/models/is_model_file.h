// Tells model files from other files, without reading the model.
#pragma once

#include <filesystem>

namespace annulus {

// Whether a file says that it is a model; false for files of other formats and where there is none. Throws
// Error{kFormat} for a damaged file that is named like a model.
bool is_model_file(const std::filesystem::path& path);

}  // namespace annulus
