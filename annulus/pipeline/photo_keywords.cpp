// Gathers the labels by photo and writes one sidecar for each.
#include "annulus/pipeline/photo_keywords.h"

#include <filesystem>
#include <vector>

#include "annulus/base/media_fragment.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/images/xmp_sidecar.h"

namespace annulus {

void PhotoKeywords::check_writable(const std::string& photo_or_folder) {
  std::error_code ignored;
  if (std::filesystem::is_directory(photo_or_folder, ignored)) {
    annulus::check_writable(std::filesystem::path(photo_or_folder) / "photo.xmp");
  } else {
    annulus::check_writable(xmp_sidecar_of(parse_media_fragment(photo_or_folder).file));
  }
}

void PhotoKeywords::add(std::string_view path, std::string_view label) {
  std::set<std::string>& labels = labels_[parse_media_fragment(path).file];
  if (!label.empty()) labels.emplace(label);
}

std::size_t PhotoKeywords::write(const ProgressCallback& progress) const {
  std::size_t written = 0;
  std::size_t done = 0;
  for (const auto& [photo, labels] : labels_) {
    report(progress, {"write sidecars", done++, labels_.size(), {}});
    const std::vector<std::string> keywords(labels.begin(), labels.end());
    if (write_xmp_keywords(photo, keywords)) ++written;
  }
  return written;
}

}  // namespace annulus
