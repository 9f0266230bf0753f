// Opens checkpoints of other programs: PyTorch and safetensors files as named tensors.
#pragma once

#include <filesystem>

#include "annulus/store/mapped_file.h"
#include "annulus/vision/tensor_file.h"
#include "annulus/vision/torch_file.h"

namespace annulus {

// Recognises the format by content, not by name. Tensors are read from the mapped file when they are asked for. Throws
// Error{kFormat} that says what was expected when the file is neither.
TensorFile read_checkpoint(const FileBytes& file, const TorchReadOptions& options = {});
TensorFile open_checkpoint(const std::filesystem::path& path, const TorchReadOptions& options = {});

}  // namespace annulus
