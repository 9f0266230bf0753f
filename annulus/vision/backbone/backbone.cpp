// Reads the input and output slots of a model file, feeds it and pools its output.
#include "annulus/vision/backbone/backbone.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/vision/backbone/onnxruntime.h"

namespace annulus {
namespace {

constexpr std::size_t kUsualSide = 224;  // used when the model takes any size
constexpr std::int64_t kLargestExtent = 1 << 16;

void add_file(Sha256& sum, const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(ErrorKind::kIo, "could not open the model {}", file.string());
  std::vector<char> block(1 << 20);
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    sum.update(std::as_bytes(std::span(block.data(), static_cast<std::size_t>(stream.gcount()))));
  }
  if (stream.bad()) fail(ErrorKind::kIo, "could not read the model {}", file.string());
}

// The weights of large models are beside the model file, under one of two customary names.
std::string checksum_of(const std::filesystem::path& file) {
  Sha256 sum;
  add_file(sum, file);
  for (const char* suffix : {".data", "_data"}) {
    const std::filesystem::path weights = file.string() + suffix;
    if (std::filesystem::is_regular_file(weights)) add_file(sum, weights);
  }
  return sum.finish_hex();
}

std::string names_of(std::span<const TensorInfo> infos) {
  std::string text;
  for (const TensorInfo& info : infos) {
    text += fmt::format("{}\"{}\" {}", text.empty() ? "" : ", ", info.name, shape_text(info.shape));
  }
  return text.empty() ? "none" : text;
}

std::size_t positive(std::int64_t extent) { return extent > 0 ? static_cast<std::size_t>(extent) : 0; }

// The mean of `count` vectors of `length` values each.
void mean_of_rows(const float* rows, std::size_t count, std::size_t length, std::span<float> out) {
  std::vector<double> sums(length, 0.0);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t i = 0; i < length; ++i) sums[i] += static_cast<double>(rows[row * length + i]);
  }
  for (std::size_t i = 0; i < length; ++i) out[i] = static_cast<float>(sums[i] / static_cast<double>(count));
}

}  // namespace

Backbone::Backbone(const std::filesystem::path& file, const BackboneOptions& options)
    : file_(file), session_(file), sha256_(checksum_of(file)), tokens_(options.tokens) {
  preprocessing_ = session_.metadata("annulus.preprocess");
  engine_ = "ONNX Runtime " + onnxruntime().version;
  read_input();
  read_output(options);
}

void Backbone::read_input() {
  const std::string name = file_.string();
  const auto inputs = session_.inputs();
  if (inputs.size() != 1) {
    fail(ErrorKind::kFormat, "{}: expected a model with one input, found {}: {}", name, inputs.size(),
         names_of(inputs));
  }
  const TensorInfo& input = inputs.front();
  if (input.type == TensorType::kOther) {
    fail(ErrorKind::kFormat, "{}: expected images of float or half values, found another type for {}", name,
         names_of(inputs));
  }
  const auto& shape = input.shape;
  const bool first = shape.size() == 4 && shape[1] == 3;
  const bool last = shape.size() == 4 && shape[3] == 3 && !first;
  const bool free = shape.size() == 4 && shape[1] < 0 && shape[3] != 3;
  if (!first && !last && !free) {
    fail(ErrorKind::kFormat, "{}: expected an input [batch, 3, height, width] or [batch, height, width, 3], found {}",
         name, names_of(inputs));
  }
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent > kLargestExtent; })) {
    fail(ErrorKind::kFormat, "{}: expected extents up to {}, found {}", name, kLargestExtent, names_of(inputs));
  }
  channels_last_ = last;
  batch_ = std::max<std::size_t>(1, positive(shape[0]));
  height_ = positive(shape[last ? 1 : 2]);
  width_ = positive(shape[last ? 2 : 3]);
}

std::size_t Backbone::choose_output(const std::string& wanted) const {
  const auto outputs = session_.outputs();
  const auto index_of = [&](std::string_view name) {
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&](const TensorInfo& info) { return info.name == name; });
    return static_cast<std::size_t>(found - outputs.begin());
  };
  if (!wanted.empty()) {
    const std::size_t index = index_of(wanted);
    if (index == outputs.size()) {
      fail(ErrorKind::kUsage, "{} has no output \"{}\"; it has {}", file_.string(), wanted, names_of(outputs));
    }
    return index;
  }
  constexpr std::array kNames = {"features",  "image_features", "image_embeds",  "embeddings",
                                 "embedding", "pooler_output",  "pooled_output", "last_hidden_state"};
  for (const char* name : kNames) {
    const std::size_t index = index_of(name);
    if (index < outputs.size()) return index;
  }
  if (outputs.size() != 1) {
    fail(ErrorKind::kUsage, "{}: none of its outputs has a customary name; choose one of {}", file_.string(),
         names_of(outputs));
  }
  return 0;
}

void Backbone::read_output(const BackboneOptions& options) {
  output_ = choose_output(options.output);
  const TensorInfo& output = session_.outputs()[output_];
  if (output.type == TensorType::kOther) {
    fail(ErrorKind::kFormat, "{}: expected output \"{}\" to hold float or half values", file_.string(), output.name);
  }
  // Declared shapes may be free or missing: a run on a black image gives the real one.
  const std::size_t height = height_ > 0 ? height_ : kUsualSide;
  const std::size_t width = width_ > 0 ? width_ : kUsualSide;
  const std::vector<float> black(batch_ * 3 * height * width, 0.0F);
  const auto extent = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  std::array shape = {extent(batch_), std::int64_t{3}, extent(height), extent(width)};
  if (channels_last_) shape = {extent(batch_), extent(height), extent(width), std::int64_t{3}};
  const FloatTensor found = session_.run(black, shape, output_);

  const std::size_t rank = found.shape.size();
  if (rank < 2 || rank > 4 || found.values.empty() || positive(found.shape[0]) != batch_) {
    fail(ErrorKind::kFormat, "{}: expected output \"{}\" to be [{}, d], [{}, tokens, d] or a map, found {}",
         file_.string(), output.name, batch_, batch_, shape_text(found.shape));
  }
  dimension_ = positive(found.shape[rank == 4 && !channels_last_ ? 1 : rank - 1]);
  output_rank_ = rank;
  if (rank == 3) token_count_ = positive(found.shape[1]);
  output_rule_ = output.name;
  // An imported file says what its features are.
  const std::string feature = session_.metadata("annulus.feature");
  if (!feature.empty() && output.name == "features") output_rule_ += ", " + feature;
  if (rank == 3 && tokens_ == TokenPooling::kMean && height != width) {
    fail(ErrorKind::kUsage, "{}: the mean of patch tokens needs square images, found {} x {}", file_.string(), height,
         width);
  }
  if (rank == 3) output_rule_ += tokens_ == TokenPooling::kClass ? ", class token" : ", mean of patch tokens";
  if (rank == 4) output_rule_ += ", mean of positions";
}

void Backbone::run(ConstMatrixView<float> images, std::size_t height, std::size_t width, MatrixView<float> features,
                   int threads) const {
  if (images.rows() != features.rows() || features.cols() != dimension_ || images.cols() != 3 * height * width) {
    fail(ErrorKind::kInternal, "expected {} images of 3 x {} x {} and rows of {}, found {} x {} and {} x {}",
         features.rows(), height, width, dimension_, images.rows(), images.cols(), features.rows(), features.cols());
  }
  if ((height_ > 0 && height != height_) || (width_ > 0 && width != width_)) {
    fail(ErrorKind::kInput, "{} takes images of {} x {}, found {} x {}: choose a fitting preprocessing", file_.string(),
         height_, width_, height, width);
  }
  const std::size_t groups = (images.rows() + batch_ - 1) / batch_;
  parallel_for(threads, groups, [&](std::size_t group) {
    const std::size_t first = group * batch_;
    const std::size_t count = std::min(batch_, images.rows() - first);
    run_group(images.rows_at(first, count), height, width, features.rows_at(first, count));
  });
}

void Backbone::run_group(ConstMatrixView<float> images, std::size_t height, std::size_t width,
                         MatrixView<float> features) const {
  const std::size_t plane = height * width;
  const auto extent = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  std::array shape = {extent(batch_), std::int64_t{3}, extent(height), extent(width)};
  if (channels_last_) shape = {extent(batch_), extent(height), extent(width), std::int64_t{3}};
  if (batch_ == 1 && !channels_last_) {
    pool(session_.run(images.row(0), shape, output_), features);
    return;
  }
  std::vector<float> packed(batch_ * 3 * plane, 0.0F);  // missing images stay black
  for (std::size_t i = 0; i < images.rows(); ++i) {
    const auto image = images.row(i);
    float* out = packed.data() + i * 3 * plane;
    if (!channels_last_) {
      std::copy(image.begin(), image.end(), out);
      continue;
    }
    for (std::size_t pixel = 0; pixel < plane; ++pixel) {
      for (std::size_t channel = 0; channel < 3; ++channel) out[pixel * 3 + channel] = image[channel * plane + pixel];
    }
  }
  pool(session_.run(packed, shape, output_), features);
}

void Backbone::pool(const FloatTensor& output, MatrixView<float> features) const {
  const auto& shape = output.shape;
  const std::size_t rank = shape.size();
  const std::size_t channel_axis = rank == 4 && !channels_last_ ? 1 : rank - 1;
  if (rank < 2 || positive(shape[0]) != batch_ || positive(shape[channel_axis]) != dimension_ ||
      output.values.empty()) {
    fail(ErrorKind::kFormat, "{}: expected features of dimension {} for each image, found an output of shape {}",
         file_.string(), dimension_, shape_text(shape));
  }
  const std::size_t each = output.values.size() / batch_;
  const std::size_t vectors = each / dimension_;
  for (std::size_t i = 0; i < features.rows(); ++i) {
    const float* values = output.values.data() + i * each;
    const std::span<float> row = features.row(i);
    if (rank == 4 && !channels_last_) {
      for (std::size_t channel = 0; channel < dimension_; ++channel) {
        mean_of_rows(values + channel * vectors, vectors, 1, row.subspan(channel, 1));
      }
    } else if (rank == 4) {
      mean_of_rows(values, vectors, dimension_, row);
    } else if (rank == 3 && tokens_ == TokenPooling::kMean) {
      const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(vectors)));
      const std::size_t patches = side * side;
      mean_of_rows(values + (vectors - patches) * dimension_, patches, dimension_, row);
    } else {
      std::copy_n(values, dimension_, row.begin());
    }
  }
}

std::string describe_runtime() {
  const OnnxRuntime& runtime = onnxruntime();
  return fmt::format("ONNX Runtime {}, {}", runtime.version, runtime.library);
}

bool lacks_runtime() { return built_with_vision() && !onnxruntime_found(); }

}  // namespace annulus
