// Opens checkpoints of other programs: PyTorch and safetensors files as named tensors.
#pragma once

#include <filesystem>

#include "annulus/store/files/mapped_file.h"
#include "annulus/vision/import/tensor_file.h"
#include "annulus/vision/import/torch_file.h"

namespace annulus {

// Recognises the format by content, not by name. Tensors are read from the mapped file on demand. Throws Error{kFormat}
// if the file is neither.
TensorFile read_checkpoint(const FileBytes& file, const TorchReadOptions& options = {});
TensorFile open_checkpoint(const std::filesystem::path& path, const TorchReadOptions& options = {});

}  // namespace annulus
