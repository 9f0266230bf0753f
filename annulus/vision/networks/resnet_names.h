// The names that timm and transformers give the tensors of residual networks.
#pragma once

#include <array>
#include <string>

#include "annulus/vision/import/tensor_file.h"
#include "annulus/vision/networks/architecture.h"
#include "annulus/vision/networks/encoder_tensors.h"

namespace annulus {

// Whose names the tensors of a residual network have.
struct ResnetNames {
  const char* program;          // empty: the publisher's, as torchvision and OpenAI name them
  const char* anchor;           // a tensor that every such network has exactly one of
  TensorRename from_publisher;  // "layer1.0.conv2.weight" to the name of this program; null: the same
};

// The names known for kResnet (the publisher's, those of transformers) or kClipResnet (OpenAI's, those of timm), the
// publisher's first.
const std::array<ResnetNames, 2>& known_resnet_names(NetworkFamily family);

// Those of the tensors under a prefix; the publisher's where neither fits.
const ResnetNames& resnet_names(NetworkFamily family, const TensorFile& file, const std::string& prefix);

}  // namespace annulus
