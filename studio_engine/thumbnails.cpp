// Makes small pictures and keeps them.
#include "studio_engine/thumbnails.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/image/thumbnail.h"

namespace annulus::studio {

Thumbnails::Thumbnails(const SharedProject& project, std::size_t most_bytes)
    : project_(project), most_bytes_(most_bytes) {}

std::shared_ptr<const std::string> Thumbnails::kept(const std::string& key, const std::function<std::string()>& make) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = pictures_.find(key);
    if (found != pictures_.end()) return found->second;
  }
  auto bytes = std::make_shared<const std::string>(make());
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes->size() > most_bytes_) {
    pictures_.clear();
    bytes_ = 0;
  }
  if (pictures_.emplace(key, bytes).second) bytes_ += bytes->size();
  return bytes;
}

Image Thumbnails::read_photo(const std::string& id) const {
  const auto path = [&] { return project_.read([&](const Project& p) { return p.path_of(p.state().photo(id)); }); };
  try {
    return read_image(path());
  } catch (const Error& error) {
    // It may have been moved to another class in between.
    if (error.kind() != ErrorKind::kIo) throw;
    return read_image(path());
  }
}

std::shared_ptr<const std::string> Thumbnails::picture(const std::string& id, std::size_t side) {
  return kept(fmt::format("{} {}", side, id), [&] { return thumbnail_webp(read_photo(id), side); });
}

std::shared_ptr<const std::string> Thumbnails::strip(std::span<const std::string> ids, std::size_t side) {
  return kept(fmt::format("{} {},", side, fmt::join(ids, ",")), [&] {
    std::vector<Image> images(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      try {
        images[i] = read_photo(ids[i]);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kFormat) throw;
        continue;
      }
      // Shrunk at once: eight large photos would take gigabytes.
      const std::size_t longer = std::max(images[i].width, images[i].height);
      const std::size_t most = 2 * side;
      if (longer > most) {
        images[i] = shrink_image(images[i], std::max<std::size_t>(1, images[i].width * most / longer),
                                 std::max<std::size_t>(1, images[i].height * most / longer));
      }
    }
    return strip_webp(images, side, side / 12);
  });
}

}  // namespace annulus::studio
