// Detects the format of a feature file and calls its reader.
#include "annulus/store/features/feature_file.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/formats/npy.h"

namespace annulus {
namespace {

std::string extension_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

FeatureSetParts parts_from(const FileBytes& file, const std::string& extension, bool verify) {
  const std::string_view start = as_text(file.bytes.first(std::min<std::size_t>(file.bytes.size(), 9)));
  if (extension == ".pth" || extension == ".pt" || is_torch_archive(file.bytes)) return torch_features(file);
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) return npz_features(file);
  if (start.starts_with("\x93NUMPY")) return npy_features(file);
  if (extension == ".safetensors" || (start.size() == 9 && start[8] == '{' && start[7] == '\0')) {
    return safetensors_features(file, verify);
  }
  if (extension == ".npz" || extension == ".npy") {
    fail(ErrorKind::kFormat, "{}: expected NumPy's {} format, found other data", file.source, extension);
  }
  if (extension == ".csv") return csv_features(file);
  if (extension == ".svm" || extension == ".libsvm" || extension == ".txt") return libsvm_features(file);
  fail(ErrorKind::kFormat,
       "{}: expected features as .npz, .safetensors, .npy, .pth, .csv or LIBSVM text (.svm, .libsvm, .txt), found "
       "neither "
       "such a name nor such content",
       file.source);
}

std::optional<std::filesystem::path> neighbouring_labels(const std::filesystem::path& features) {
  constexpr std::string_view kEnd = "features";
  const std::string stem = features.stem().string();
  if (!stem.ends_with(kEnd)) return std::nullopt;
  const std::string start = stem.substr(0, stem.size() - kEnd.size());
  for (const char* const end : {"labels", "targets"}) {
    auto candidate = features;
    candidate.replace_filename(start + end + features.extension().string());
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

void check_text(std::string_view text, std::string_view what, const std::string& target) {
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    fail(ErrorKind::kInput, "{}: cannot be written: {} is not UTF-8 text", target, what);
  }
}

// Sets that a reader would reject are not written.
void check_writable(const FeatureSet& set, const std::string& target) {
  if (set.rows() == 0) fail(ErrorKind::kInput, "{}: expected features to write, found none", target);
  check_unique(set.class_names(), set.source());
  for (std::size_t c = 0; c < set.classes(); ++c) {
    check_text(set.class_names()[c], fmt::format("the name of class {}", c), target);
  }
  for (std::size_t i = 0; i < set.paths().size(); ++i) {
    check_text(set.paths()[i], fmt::format("the path of row {}", i), target);
  }
  for (const auto& [key, value] : set.provenance()) {
    check_text(key, "a name in the provenance", target);
    check_text(value, fmt::format("the provenance entry \"{}\"", key), target);
  }
}

}  // namespace

FeatureSet read_features(const std::filesystem::path& path, const ReadOptions& options) {
  const FileBytes file = map_file(path);
  FeatureSetParts parts = parts_from(file, extension_of(path), options.verify);
  if (!options.labels.empty()) {
    if (!parts.labels.empty()) {
      fail(ErrorKind::kUsage, "{}: holds its own labels, so labels from {} cannot be used", file.source,
           options.labels.string());
    }
    read_labels(map_file(options.labels), parts);
  } else if (parts.labels.empty() && extension_of(path) == ".npy") {
    if (const auto labels = neighbouring_labels(path)) read_labels(map_file(*labels), parts);
  }
  return FeatureSet(std::move(parts));
}

void write_features(const FeatureSet& set, const std::filesystem::path& path, const WriteOptions& options) {
  check_writable(set, path.string());
  const std::string extension = extension_of(path);
  if (extension == ".safetensors") return write_safetensors_features(set, path, options);
  if (extension == ".npz") return write_npz_features(set, path, options);
  fail(ErrorKind::kUsage, "{}: expected a name ending in .safetensors or .npz, found \"{}\"", path.string(), extension);
}

}  // namespace annulus
