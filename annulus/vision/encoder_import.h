// Finds the encoder of an architecture inside a checkpoint and turns it into an ONNX model.
#pragma once

#include <string>
#include <vector>

#include "annulus/vision/architecture.h"
#include "annulus/vision/onnx_model.h"
#include "annulus/vision/tensor_file.h"

namespace annulus {

struct EncoderChoice {
  // Only tensors whose name contains this text are looked at ("student", "momentum_encoder"); empty: the usual choice,
  // which prefers teachers and target encoders, and MoCo's base encoder.
  std::string within;
};

struct EncoderImport {
  OnnxModel model;                   // looks into the TensorFile, which must outlive it
  std::string layout;                // "DINO training file, tensors under teacher.backbone."
  std::size_t used = 0;              // tensors that the network took
  std::vector<std::string> dropped;  // what it left: names, or "student.* (150 tensors)"
  std::vector<std::string> notes;    // decisions worth telling: positions resized, heads changed, other candidates
};

// Matches by the ends of names and by shapes, not by one prefix. Throws Error{kInput} that names the missing, misshapen
// or surplus tensor with the expected and the found shape.
EncoderImport import_encoder(const TensorFile& file, const Architecture& architecture,
                             const EncoderChoice& choice = {});

}  // namespace annulus
