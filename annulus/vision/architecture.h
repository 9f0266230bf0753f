// The networks the importer can build, named ("vit-s/16") or spelled out ("vit:width=32,depth=2,heads=2,patch=8").
#pragma once

#include <array>
#include <string>

namespace annulus {

enum class NetworkFamily {
  kVit,         // vision transformer, class token after the last norm
  kResnet,      // torchvision's residual networks
  kWideResnet,  // pre-activation wide residual network (S2M2_R)
  kResnet12,    // three convolutions a block, leaky ReLU (Meta-Baseline)
};

struct Architecture {
  std::string name;  // as the user wrote it
  NetworkFamily family = NetworkFamily::kVit;
  int image_size = 224;  // pixels a side

  // kVit
  int width = 0;
  int depth = 0;  // blocks; of a wide residual network, its layers (28)
  int heads = 0;
  int patch = 0;

  // residual networks
  std::array<int, 4> blocks = {0, 0, 0, 0};    // of each stage; kResnet
  bool bottleneck = false;                     // kResnet: 1x1, 3x3, 1x1 blocks instead of two 3x3
  std::array<int, 4> channels = {0, 0, 0, 0};  // of each stage (of the 3x3 convolutions); wide: stem and three stages

  // The length of the feature vector.
  int dimension() const;
};

// Throws Error{kUsage} that lists what is known for an unknown name, or names the bad part of a spelled-out one.
// Spelled out: vit:width=W,depth=D,heads=H,patch=P,image=I -
// resnet:block=basic|bottleneck,blocks=A-B-C-D,width=W,image=I
// - wrn:depth=D,widen=K,width=W,image=I - resnet12:channels=A-B-C-D,image=I. What is left out has a usual value.
Architecture parse_architecture(const std::string& text);

// "resnet12, resnet18, ...", for messages and help.
std::string known_architectures();

}  // namespace annulus
