// Looks at the format that the metadata of a model name.
#include "annulus/store/models/is_model_file.h"

#include <system_error>

#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/safetensors.h"

namespace annulus {

bool is_model_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.extension() != ".safetensors" || !std::filesystem::is_regular_file(path, ignored)) return false;
  return Safetensors(map_file(path)).metadata_or("format", "") == "annulus-model";
}

}  // namespace annulus
