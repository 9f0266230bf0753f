// Resize and centre crop in one pass, then scaling with a table of 256 floats per channel.
#include "annulus/vision/preprocess/preprocess.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/preprocess/resample.h"

namespace annulus {
namespace {

// The source of one axis of the output: `count` positions from `resized_first` on of the axis resized to
// `resized_size`, preceded by `pad` zeros.
struct AxisPlan {
  std::size_t in_size = 0;
  std::size_t resized_size = 0;
  std::size_t resized_first = 0;
  std::size_t pad = 0;
  std::size_t count = 0;
};

AxisPlan plan_axis(std::size_t in_size, std::size_t resized_size, std::size_t crop) {
  if (crop == 0) return {in_size, resized_size, 0, 0, resized_size};
  if (crop >= resized_size) return {in_size, resized_size, 0, (crop - resized_size) / 2, resized_size};
  // Half of an odd margin is rounded to even, as Python's round() does.
  const std::size_t margin = resized_size - crop;
  std::size_t first = margin / 2;
  if (margin % 2 == 1 && first % 2 == 1) ++first;
  return {in_size, resized_size, first, 0, crop};
}

std::pair<std::size_t, std::size_t> resized_sides(const Image& image, const PreprocessRecipe& recipe) {
  switch (recipe.resize) {
    case ResizeMode::kExact:
      return {recipe.resize_width, recipe.resize_height};
    case ResizeMode::kShorterSide: {
      const std::size_t shorter = std::min(image.width, image.height);
      const std::size_t longer = std::max(image.width, image.height);
      const std::size_t scaled = recipe.resize_width * longer / shorter;
      return image.width <= image.height ? std::pair{recipe.resize_width, scaled}
                                         : std::pair{scaled, recipe.resize_width};
    }
    case ResizeMode::kNone:
      break;
  }
  return {image.width, image.height};
}

using ValueTable = std::array<std::array<float, 256>, 3>;

// The float of every 8-bit value of red, green and blue, by the same float operations as in training.
ValueTable make_value_table(const PreprocessRecipe& recipe) {
  ValueTable table{};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      const auto value = static_cast<float>(v);
      switch (recipe.scaling) {
        case ValueScaling::kUnit:
          table[c][v] = value / 255.0F;
          break;
        case ValueScaling::kSigned:
          table[c][v] = value / 127.5F - 1.0F;
          break;
        case ValueScaling::kMeanStd:
          table[c][v] = (value / 255.0F - recipe.mean[c]) / recipe.std[c];
          break;
        case ValueScaling::kSubtract:
          table[c][v] = value - recipe.mean[c];
          break;
      }
    }
  }
  return table;
}

// Writes rows of pixels into the output tensor, with black around them.
class TensorWriter {
 public:
  TensorWriter(const PreprocessRecipe& recipe, std::span<float> out)
      : table_(make_value_table(recipe)),
        width_(recipe.output_width()),
        height_(recipe.output_height()),
        planar_(recipe.layout == ChannelLayout::kNchw),
        reversed_(recipe.channels == ChannelOrder::kBgr),
        out_(out) {}

  void write_black_row(std::size_t y) { write_black(y, 0, width_); }

  // pixels: RGB values for columns [pad, pad + pixels.size() / 3); the rest of the row is black.
  void write_row(std::size_t y, std::size_t pad, std::span<const std::uint8_t> pixels) {
    const std::size_t count = pixels.size() / 3;
    write_black(y, 0, pad);
    write_black(y, pad + count, width_);
    for (std::size_t c = 0; c < 3; ++c) {
      const std::array<float, 256>& values = table_[c];
      const std::uint8_t* from = pixels.data() + c;
      float* to = slot(y, pad, c);
      const std::size_t step = planar_ ? 1 : 3;
      for (std::size_t x = 0; x < count; ++x) to[x * step] = values[from[3 * x]];
    }
  }

 private:
  // The position of red, green or blue (colour 0, 1, 2) of pixel (x, y).
  float* slot(std::size_t y, std::size_t x, std::size_t colour) {
    const std::size_t channel = reversed_ ? 2 - colour : colour;
    return out_.data() + (planar_ ? (channel * height_ + y) * width_ + x : (y * width_ + x) * 3 + channel);
  }
  void write_black(std::size_t y, std::size_t begin, std::size_t end) {
    for (std::size_t x = begin; x < end; ++x) {
      for (std::size_t c = 0; c < 3; ++c) *slot(y, x, c) = table_[c][0];
    }
  }

  ValueTable table_;
  std::size_t width_;
  std::size_t height_;
  bool planar_;
  bool reversed_;
  std::span<float> out_;
};

// Rows [first_row, first_row + count) of the image, resized horizontally and cropped to the columns of the crop.
// `storage` owns the result unless the image itself can be used.
ConstMatrixView<std::uint8_t> resize_across(const Image& image, const AxisPlan& across, Interpolation interpolation,
                                            std::size_t first_row, std::size_t count,
                                            std::vector<std::uint8_t>& storage) {
  const ConstMatrixView<std::uint8_t> rows = image.rows().rows_at(first_row, count);
  if (across.in_size == across.resized_size) {
    return {rows.data() + 3 * across.resized_first, count, 3 * across.count, rows.stride()};
  }
  const ResampleAxis axis =
      make_resample_axis(across.in_size, across.resized_size, across.resized_first, across.count, interpolation);
  storage.resize(count * 3 * across.count);
  const MatrixView<std::uint8_t> out(storage.data(), count, 3 * across.count);
  resample_rgb_rows(rows, axis, out);
  return out;
}

}  // namespace

void preprocess(const Image& image, const PreprocessRecipe& recipe, std::span<float> out) {
  check_recipe(recipe);
  if (image.width == 0 || image.height == 0) fail(ErrorKind::kInput, "expected an image with pixels, found none");
  if (out.size() != recipe.output_size()) {
    fail(ErrorKind::kUsage, "expected room for {} floats of a preprocessed image, found {}", recipe.output_size(),
         out.size());
  }
  const auto [resized_width, resized_height] = resized_sides(image, recipe);
  const AxisPlan across = plan_axis(image.width, resized_width, recipe.crop_width);
  const AxisPlan down = plan_axis(image.height, resized_height, recipe.crop_height);

  const bool resize_down = down.in_size != down.resized_size;
  const ResampleAxis axis = resize_down ? make_resample_axis(down.in_size, down.resized_size, down.resized_first,
                                                             down.count, recipe.interpolation)
                                        : ResampleAxis{};
  const std::size_t first_row = resize_down ? axis.windows.front().first : down.resized_first;
  const std::size_t end_row =
      resize_down ? axis.windows.back().first + axis.windows.back().count : down.resized_first + down.count;
  std::vector<std::uint8_t> storage;
  const ConstMatrixView<std::uint8_t> narrowed =
      resize_across(image, across, recipe.interpolation, first_row, end_row - first_row, storage);

  TensorWriter writer(recipe, out);
  for (std::size_t y = 0; y < down.pad; ++y) writer.write_black_row(y);
  std::vector<std::uint8_t> row(narrowed.cols());
  for (std::size_t i = 0; i < down.count; ++i) {
    if (!resize_down) {
      writer.write_row(down.pad + i, across.pad, narrowed.row(i));
      continue;
    }
    const ResampleAxis::Window& window = axis.windows[i];
    resample_columns(narrowed.rows_at(window.first - first_row, window.count), axis.weights_of(window), row);
    writer.write_row(down.pad + i, across.pad, row);
  }
  for (std::size_t y = down.pad + down.count; y < recipe.output_height(); ++y) writer.write_black_row(y);
}

DecodeOptions decode_options(const PreprocessRecipe& recipe) {
  DecodeOptions options;
  options.apply_exif = recipe.apply_exif;
  options.to_srgb = recipe.to_srgb;
  return options;
}

}  // namespace annulus
