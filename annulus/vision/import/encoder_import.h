// Finds the encoder of an architecture inside a checkpoint and turns it into an ONNX model.
#pragma once

#include <string>
#include <vector>

#include "annulus/vision/import/tensor_file.h"
#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

struct EncoderChoice {
  // Only tensors whose name contains this text are used ("student", "momentum_encoder"); empty: the usual choice, which
  // prefers teachers and target encoders, and MoCo's base encoder.
  std::string within;
  // Which tokens of a transformer become its feature.
  TokenFeature feature = TokenFeature::kUsual;
};

struct EncoderImport {
  OnnxModel model;                   // keeps views of the TensorFile, which must outlive it
  std::string layout;                // "DINO training file, tensors under teacher.backbone."
  std::size_t used = 0;              // tensors that the network uses
  std::vector<std::string> dropped;  // unused tensors: names, or "student.* (150 tensors)"
  std::vector<std::string> notes;    // decisions worth reporting: positions resized, heads changed, other candidates
};

// Matches tensors by the ends of names and by shapes, not by one prefix. Throws Error{kInput} that names the missing,
// misshapen or surplus tensor with the expected and the found shape, Error{kUsage} for a feature that it does not have.
EncoderImport import_encoder(const TensorFile& file, const Architecture& architecture,
                             const EncoderChoice& choice = {});

}  // namespace annulus
