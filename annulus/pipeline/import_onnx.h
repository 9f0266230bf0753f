// Turns a ready ONNX encoder into one with a feature of the user's choice, and with its preprocessing on record.
#pragma once

#include <filesystem>

#include "annulus/pipeline/import_backbone.h"

namespace annulus {

// True for files named *.onnx.
bool is_onnx_file(const std::filesystem::path& path);

// Includes the graph of `network` in onnx_out, from "pixel_values" to "features". The usual feature is the output that
// a Backbone would take. A class token and a mean of patch tokens are made from an output of tokens: the one that a
// Backbone would take, else last_hidden_state. Throws Error{kUsage} about the field "feature" when there is none, or no
// class token before the patches.
ImportReport import_onnx(const std::filesystem::path& network, const ImportOptions& options,
                         const std::filesystem::path& onnx_out);

}  // namespace annulus
