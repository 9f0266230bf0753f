// PyTorch files (.pth, .pt, .pth.tar) as tensors by name: the zip format of torch 1.6, also of compiled modules
// (TorchScript), the format before it, and tensors written by Python's own pickle module.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "annulus/vision/import/tensor_file.h"

namespace annulus {

struct TorchReadOptions {
  // Training files also hold objects of Python classes (argparse.Namespace, numpy scalars) beside the weights. By
  // default they are rejected by name; true passes over them. Nothing is run either way.
  bool allow_inert_objects = false;
};

// True when the bytes begin like a zip archive or like a pickle.
bool looks_like_torch_file(std::span<const std::byte> bytes);

// Reads the description of every tensor; their elements are read on demand. The bytes (a mapped file) are kept alive
// by `owner`. Of a zip file one tensor's storage is held in memory at a time, checked against its checksum; of the
// others none. Throws Error{kFormat} with one sentence for truncated, damaged or hostile files.
TensorFile read_torch_file(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const std::string& source, const TorchReadOptions& options = {});

}  // namespace annulus
