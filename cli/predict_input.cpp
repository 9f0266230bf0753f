// Collects the rows to predict and refuses those that the model was not made for.
#include "cli/predict_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/feature_file.h"
#include "annulus/store/image_folder.h"
#include "annulus/vision/image.h"
#include "cli/load_data.h"

namespace annulus::cli {
namespace {

std::string recorded(const std::map<std::string, std::string>& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? std::string() : found->second;
}

void check_dimension(const Model& model, const std::string& model_file, const FeatureSet& set) {
  if (model.head.dimension() == set.dimension()) return;
  fail(ErrorKind::kInput, "{}: expected features of {} numbers as {} was trained on, found {}", set.source(),
       model.head.dimension(), model_file, set.dimension());
}

// Features computed by another network or from images prepared otherwise would be named at random.
void check_record(const Model& model, const std::string& model_file, const FeatureSet& set) {
  constexpr std::array kKeys{std::pair{"backbone_sha256", "backbone of checksum"},
                             std::pair{"backbone_output", "backbone output"},
                             std::pair{"preprocessing", "preprocessing"}};
  for (const auto& [key, what] : kKeys) {
    const std::string expected = recorded(model.provenance, key);
    const std::string found = recorded(set.provenance(), key);
    if (expected.empty() || found.empty() || expected == found) continue;
    fail(ErrorKind::kInput, "{}: expected features by the {} \"{}\" as {} was trained on, found \"{}\"", set.source(),
         what, expected, model_file, found);
  }
}

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

bool looks_like_image(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF") || bytes.starts_with("\x89PNG") ||
         (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP"));
}

// Adds the images that a path stands for; the labels of a single folder are kept, those of several may disagree. A file
// among several is not looked at yet: when it is missing it is left out like one that is broken.
void add_images(const std::string& path, bool alone, ImageList& list) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored) && !(alone && holds_images(path))) {
    list.paths.push_back(path);
    return;
  }
  ImageList found = list_images(path);
  if (alone) {
    list = std::move(found);
    return;
  }
  list.paths.insert(list.paths.end(), found.paths.begin(), found.paths.end());
  list.warnings.insert(list.warnings.end(), found.warnings.begin(), found.warnings.end());
}

FeatureSet single_image(std::string_view bytes, const Encoder& encoder) {
  const std::vector<float> row =
      extract_image(std::as_bytes(std::span(bytes)), "standard input", encoder.backbone, encoder.recipe);
  Matrix<float> features(1, row.size());
  std::copy(row.begin(), row.end(), features.row(0).begin());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.paths = {"-"};
  parts.source = "standard input";
  return FeatureSet(std::move(parts));
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

FeatureSet load_images(const PredictInput& input, const Model& model, const std::string& model_file, int threads,
                       ProgressBar& bar) {
  std::vector<std::string> paths = input.paths;
  std::string image;
  if (paths.size() == 1 && paths.front() == "-") {
    image = read_standard_input();
    if (!looks_like_image(image)) {
      paths = lines_of(image);
      image.clear();
      if (paths.empty()) fail(ErrorKind::kInput, "standard input: expected an image or a list of paths, found nothing");
    }
  }
  const Encoder encoder = open_encoder_of(model, model_file, input.encoder, bar.callback());
  if (!image.empty()) return single_image(image, encoder);
  ImageList list;
  for (const std::string& path : paths) add_images(path, paths.size() == 1, list);
  return encode_images(list, paths.size() == 1 ? paths.front() : fmt::format("{} inputs", paths.size()), encoder,
                       input.encoder, threads, bar);
}

}  // namespace

FeatureSet load_prediction_input(const PredictInput& input, const Model& model, const std::string& model_file,
                                 int threads, ProgressBar& bar) {
  const std::string& first = input.paths.front();
  const bool is_feature_file = input.paths.size() == 1 && first != "-" && !holds_images(first);
  FeatureSet set =
      is_feature_file ? read_features(first, {input.labels}) : load_images(input, model, model_file, threads, bar);
  check_dimension(model, model_file, set);
  check_record(model, model_file, set);
  return set;
}

}  // namespace annulus::cli
