// Reads standard input; all other inputs are read by the library.
#include "cli/predict/predict_input.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/vision/image/image.h"
#include "annulus/vision/image/image_type.h"
#include "cli/load_data.h"

namespace annulus::cli {
namespace {

std::string read_standard_input() {
  const std::size_t most = DecodeLimits{}.max_bytes;
  std::string bytes;
  std::array<char, 65536> block{};
  for (;;) {
    const ssize_t count = read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(ErrorKind::kIo, "cannot read standard input: {}", std::strerror(errno));
    if (count == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most) fail(ErrorKind::kInput, "standard input holds more than {} bytes", most);
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// One image, or a list of paths of images.
FeatureSet load_standard_input(const Model& model, const std::string& model_file, const LoadOptions& options) {
  const std::string bytes = read_standard_input();
  if (image_type_of(std::as_bytes(std::span(bytes)))) {
    return load_prediction_image(std::as_bytes(std::span(bytes)), "standard input", model, model_file, options);
  }
  const std::vector<std::string> paths = lines_of(bytes);
  if (paths.empty()) fail(ErrorKind::kInput, "standard input: expected an image or a list of paths, found nothing");
  return load_prediction_images(paths, model, model_file, options);
}

}  // namespace

FeatureSet load_prediction_input(const PredictInput& input, const Model& model, const std::string& model_file,
                                 int threads, ProgressBar& bar) {
  const LoadOptions options =
      load_options({{}, input.labels, input.encoder, {}, true, input.boxes, input.frames}, threads, bar);
  if (input.paths.size() == 1 && input.paths.front() == "-") return load_standard_input(model, model_file, options);
  return load_prediction_set(input.paths, model, model_file, options);
}

}  // namespace annulus::cli
