// Reads, shrinks and remembers images.
#include "annulus/pipeline/page_pictures.h"

#include <map>
#include <memory>

#include "annulus/base/error.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/image/thumbnail.h"

namespace annulus {
namespace {

constexpr std::size_t kThumbnailSide = 168;  // pixels; shown at half of that on screens of double density

std::optional<std::string> load_picture(const std::string& path) {
  try {
    return thumbnail_uri(read_image(path), kThumbnailSide);
  } catch (const Error&) {
    // An image that cannot be read does not prevent the page.
    return std::nullopt;
  }
}

}  // namespace

std::function<std::optional<std::string>(const std::string& path)> page_pictures(const ProgressCallback& progress) {
  const auto known = std::make_shared<std::map<std::string, std::optional<std::string>>>();
  return [known, progress](const std::string& path) -> std::optional<std::string> {
    const auto found = known->find(path);
    if (found != known->end()) return found->second;
    if (known->size() == kMostPagePictures) return std::nullopt;
    report(progress, {"read pictures", known->size(), 0, {}});
    return (*known)[path] = load_picture(path);
  };
}

}  // namespace annulus
