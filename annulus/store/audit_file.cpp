// Reads each picture once, however often it is shown.
#include "annulus/store/audit_file.h"

#include <map>
#include <optional>
#include <string>

#include "annulus/base/error.h"
#include "annulus/eval/audit_page.h"
#include "annulus/store/atomic_file.h"
#include "annulus/store/image_file.h"
#include "annulus/vision/thumbnail.h"

namespace annulus {
namespace {

constexpr std::size_t kThumbnailSide = 168;  // pixels; shown at half of that on screens of double density
constexpr std::size_t kMostPictures = 400;

std::optional<std::string> load(const std::string& path) {
  try {
    return thumbnail_uri(read_image(path), kThumbnailSide);
  } catch (const Error&) {
    // A picture that cannot be had is no reason to have no page.
    return std::nullopt;
  }
}

}  // namespace

std::string illustrated_audit_page(const AuditReport& audited, const ProgressCallback& progress) {
  std::map<std::string, std::optional<std::string>> known;
  AuditPageOptions options;
  if (audited.images) {
    options.thumbnail = [&](const std::string& path) -> std::optional<std::string> {
      const auto found = known.find(path);
      if (found != known.end()) return found->second;
      if (known.size() == kMostPictures) return std::nullopt;
      report(progress, {"read pictures", known.size(), 0, {}});
      return known[path] = load(path);
    };
  }
  return audit_page(audited, options);
}

void write_audit_page(const AuditReport& audited, const std::filesystem::path& file, const ProgressCallback& progress) {
  write_file(file, illustrated_audit_page(audited, progress));
}

}  // namespace annulus
