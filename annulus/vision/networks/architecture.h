// The networks that the importer can build, named ("vit-s/16") or explicit ("vit:width=32,depth=2,heads=2,patch=8").
#pragma once

#include <array>
#include <string>

namespace annulus {

enum class NetworkFamily {
  kVit,         // vision transformer, class token after the last norm
  kResnet,      // torchvision's residual networks
  kWideResnet,  // pre-activation wide residual network (S2M2_R)
  kResnet12,    // three convolutions a block, leaky ReLU (Meta-Baseline)
  kClipVit,     // the image tower of CLIP: a norm before the blocks, a projection after them
  kDinov3Vit,   // rotary positions, storage tokens
  kSiglip,      // the image tower of SigLIP: no class token, attention pooling
  kClipResnet,  // the image tower of CLIP: three convolutions first, averages before strides, attention pooling
  kConvnext,    // ConvNeXt, also as DINOv3 trains it
  kMobilenetV4  // convolutional MobileNetV4; its blocks are read from the checkpoint
};

// The activation between the linear layers of a transformer block.
enum class Activation {
  kErf,    // GELU, exact
  kQuick,  // x sigmoid(1.702 x)
  kTanh,   // GELU, approximated by tanh
};

// What a transformer gives as its feature.
enum class TokenFeature {
  kUsual,         // what its authors use; of other networks the only choice
  kClass,         // the class token, or the vector of the pooling head, after the last norm
  kMean,          // the mean of the patch tokens after the last norm
  kClassAndMean,  // both, one after the other
};

// "cls", "mean", "cls+mean" or "", the usual one. Throws Error{kUsage} about the field "feature" for anything else.
TokenFeature parse_token_feature(const std::string& text);
// The word that parse_token_feature() reads.
const char* token_feature_word(TokenFeature feature);

struct Architecture {
  std::string name;  // as the user wrote it
  NetworkFamily family = NetworkFamily::kVit;
  int image_size = 224;  // pixels a side

  // transformers
  int width = 0;
  int depth = 0;  // blocks; of a wide residual network, its layers (28)
  int heads = 0;  // also of the attention pooling of kClipResnet
  int patch = 0;
  Activation activation = Activation::kErf;

  // residual networks
  std::array<int, 4> blocks = {0, 0, 0, 0};    // of each stage; kResnet, kClipResnet, kConvnext
  bool bottleneck = false;                     // kResnet: 1x1, 3x3, 1x1 blocks instead of two 3x3
  std::array<int, 4> channels = {0, 0, 0, 0};  // of each stage (of the 3x3 convolutions); wide: stem and three stages

  // True for networks of tokens, which have a choice of features.
  bool is_transformer() const;
};

// Throws Error{kUsage} that lists the known names for an unknown one, or names the invalid part of an explicit one.
// Explicit: vit:width=W,depth=D,heads=H,patch=P,image=I - resnet:block=basic|bottleneck,blocks=A-B-C-D,width=W,image=I
// - wrn:depth=D,widen=K,width=W,image=I - resnet12:channels=A-B-C-D,image=I - clip:..., dinov3:..., siglip:... as vit;
// clip also with activation=quick|erf - clip-resnet:blocks=A-B-C-D,width=W,heads=H,image=I -
// convnext:blocks=A-B-C-D,width=W,image=I - mobilenetv4:image=I. Omitted settings have usual values.
Architecture parse_architecture(const std::string& text);

// "resnet12, resnet18, ...", for messages and help.
std::string known_architectures();

}  // namespace annulus
