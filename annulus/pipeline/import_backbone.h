// Turns a checkpoint of another program into an ONNX file that a Backbone runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

struct ImportOptions {
  std::string arch;    // "vit-s/16", "resnet50", ...; unused for TensorFlow.js, which brings its own
  int image_size = 0;  // pixels a side; 0: what the architecture usually takes
  std::string within;  // only tensors whose name contains this ("student"); empty: the usual choice
  TokenFeature feature = TokenFeature::kUsual;  // which tokens of a transformer become its feature
  std::string preprocess;                       // recipe stored in the file; empty: the one its authors use
  bool allow_inert_objects = false;  // pass over Python objects beside the weights instead of rejecting the file
};

struct ImportReport {
  std::string arch;
  std::string layout;      // what was recognised, and the prefix of the tensors
  std::string preprocess;  // the recipe put into the file
  std::string feature;     // "class token", "mean of patch tokens", ...; empty where a network has only one
  std::string source_sha256;
  int image_size = 0;
  std::size_t tensors_used = 0;
  std::vector<std::string> dropped;  // tensors not used: names, or "student.* (150 tensors)"
  std::vector<std::string> notes;    // positions resized, heads changed, other encoders in the file
};

// Reads a PyTorch checkpoint (.pth, .pt, .pth.tar, .bin), a safetensors file, a TensorFlow.js model (model.json or its
// folder) or a ready ONNX encoder (import_onnx.h) and writes onnx_out, which appears only when it is complete. Input
// "pixel_values" (batch x 3 x size x size), output "features" (batch x dimension). Memory: one tensor at a time.
// Nothing in the checkpoint is ever run. Throws Error: kUsage for an unknown architecture, kFormat for a broken or
// hostile file, kInput for one that does not fit.
ImportReport import_checkpoint(const std::filesystem::path& checkpoint, const ImportOptions& options,
                               const std::filesystem::path& onnx_out);

// The TensorFlow.js part alone.
ImportReport import_tfjs(const std::filesystem::path& model_json, const ImportOptions& options,
                         const std::filesystem::path& onnx_out);

// Puts what the report says into the model's metadata and writes it; the file appears when it is complete.
void write_imported_model(OnnxModel& model, const ImportReport& report, const std::filesystem::path& onnx_out);

}  // namespace annulus
