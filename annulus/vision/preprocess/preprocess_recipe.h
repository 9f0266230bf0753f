// How an image becomes a network's input: a record that is stored with features and models and compared at prediction.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

enum class ResizeMode {
  kNone,         // crop the image as it is
  kShorterSide,  // the shorter side becomes `width`, the longer one in proportion (rounded down)
  kExact,        // width x height whatever the shape was
};
enum class Interpolation { kBicubic, kBilinear };  // both with antialiasing, as Pillow's
enum class ValueScaling {
  kUnit,      // value / 255
  kSigned,    // value / 127.5 - 1
  kMeanStd,   // (value / 255 - mean) / std
  kSubtract,  // value - mean, on the scale of 0..255
};
enum class ChannelOrder { kRgb, kBgr };
enum class ChannelLayout { kNchw, kNhwc };

struct PreprocessRecipe {
  ResizeMode resize = ResizeMode::kShorterSide;
  std::size_t resize_width = 256;  // for kShorterSide the length of the shorter side
  std::size_t resize_height = 0;   // for kExact only
  Interpolation interpolation = Interpolation::kBicubic;
  std::size_t crop_width = 224;  // centre crop, zeros around an image that is smaller; 0 x 0: none (kExact only)
  std::size_t crop_height = 224;
  ValueScaling scaling = ValueScaling::kUnit;
  std::array<float, 3> mean{};        // red, green, blue, whatever the channel order
  std::array<float, 3> std{1, 1, 1};  // likewise
  ChannelOrder channels = ChannelOrder::kRgb;
  ChannelLayout layout = ChannelLayout::kNchw;
  bool apply_exif = true;  // images are turned upright when decoded
  bool to_srgb = false;    // colours are converted to sRGB by the ICC profile of the file when decoded
  // Where an example is a box in a picture: what is added on each side, as a fraction of the box's own width (height).
  double box_margin = 0;

  bool operator==(const PreprocessRecipe&) const = default;

  std::size_t output_width() const { return crop_width != 0 ? crop_width : resize_width; }
  std::size_t output_height() const { return crop_height != 0 ? crop_height : resize_height; }
  // The number of floats per image.
  std::size_t output_size() const { return 3 * output_width() * output_height(); }
};

// Throws Error{kUsage} naming the invalid field unless every image gives the same, valid size.
void check_recipe(const PreprocessRecipe& recipe);

// One line of key=value pairs, always in the same order: equal recipes have equal texts. "profile" is left out where
// it is "ignore", "margin" where it is 0.
std::string to_text(const PreprocessRecipe& recipe);

// Reads to_text's form. A preset's name may stand first, and the pairs then change that preset:
// "imagenet crop=256x256 layout=nhwc". Throws Error{kUsage} for anything unknown, missing or out of range.
PreprocessRecipe recipe_from_text(std::string_view text);

// "imagenet", "clip", "keras-caffe", ...; throws Error{kUsage} listing the names.
PreprocessRecipe preprocess_preset(std::string_view name);
std::vector<std::string> preprocess_preset_names();

}  // namespace annulus
