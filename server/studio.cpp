// What requests ask of an open project.
#include "server/studio.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/image_file.h"
#include "annulus/vision/thumbnail.h"

namespace annulus::server {
namespace {

constexpr std::size_t kMostThumbnailBytes = std::size_t{96} << 20;

}  // namespace

Studio::Studio(StudioOptions options, std::function<void()> changed)
    : options_(std::move(options)),
      changed_(std::move(changed)),
      project_(options_.project),
      content_(project_.state().content_checksum()),
      last_change_(now()) {
  worker_.emplace("studio", [this] { work(); });
}

Studio::~Studio() { stop(); }

void Studio::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  worker_.reset();
}

StudioStatus Studio::status() const {
  const std::lock_guard lock(mutex_);
  StudioStatus status = status_;
  status.waiting = waiting_.size();
  status.model_current = model_ && knows_all(model_->content);
  status.model_thorough = status.model_current && model_->thorough;
  status.analysis_current = analysis_ && knows_all(analysis_->rows->content);
  return status;
}

std::string Studio::trouble_of(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = troubles_.find(id);
  return found == troubles_.end() ? std::string() : found->second;
}

std::vector<std::string> Studio::troubled() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, reason] : troubles_) {
    const auto photo = project_.state().photos().find(id);
    if (photo != project_.state().photos().end() && !photo->second.class_name.empty()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::shared_ptr<const Encoder> Studio::encoder() const {
  const std::lock_guard lock(mutex_);
  return encoder_;
}

std::shared_ptr<const StudioModel> Studio::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

std::shared_ptr<const StudioMap> Studio::map() const {
  const std::lock_guard lock(mutex_);
  return map_;
}

std::shared_ptr<const StudioAnalysis> Studio::analysis() const {
  const std::lock_guard lock(mutex_);
  return analysis_;
}

void Studio::want_analysis() {
  {
    const std::lock_guard lock(mutex_);
    analysis_wanted_ = true;
  }
  wake_.notify_all();
}

void Studio::retry() {
  {
    const std::lock_guard lock(mutex_);
    failed_content_.clear();
    troubles_.clear();
    find_waiting();
    status_.trouble.clear();
    ++status_.version;
  }
  wake_.notify_all();
  changed_();
}

void Studio::note_change() {
  content_ = project_.state().content_checksum();
  last_change_ = now();
  find_waiting();
  ++status_.version;
}

void Studio::tell_change() {
  wake_.notify_all();
  changed_();
}

// From memory, or made without a lock: two requests at once may both make it.
std::shared_ptr<const std::string> Studio::kept_picture(const std::string& key,
                                                        const std::function<std::string()>& make) {
  {
    const std::lock_guard lock(thumbnails_mutex_);
    const auto found = thumbnails_.find(key);
    if (found != thumbnails_.end()) return found->second;
  }
  auto bytes = std::make_shared<const std::string>(make());
  const std::lock_guard lock(thumbnails_mutex_);
  if (thumbnail_bytes_ + bytes->size() > kMostThumbnailBytes) {
    thumbnails_.clear();
    thumbnail_bytes_ = 0;
  }
  if (thumbnails_.emplace(key, bytes).second) thumbnail_bytes_ += bytes->size();
  return bytes;
}

Image Studio::read_photo(const std::string& id) const {
  const auto path = [&] { return read([&](const Project& p) { return p.path_of(p.state().photo(id)); }); };
  try {
    return read_image(path());
  } catch (const Error& error) {
    // It may have been moved to another class in between.
    if (error.kind() != ErrorKind::kIo) throw;
    return read_image(path());
  }
}

std::shared_ptr<const std::string> Studio::thumbnail(const std::string& id, std::size_t side) {
  return kept_picture(fmt::format("{} {}", side, id), [&] { return thumbnail_webp(read_photo(id), side); });
}

std::shared_ptr<const std::string> Studio::covers(std::span<const std::string> ids, std::size_t side) {
  return kept_picture(fmt::format("{} {},", side, fmt::join(ids, ",")), [&] {
    std::vector<Image> images(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      try {
        images[i] = read_photo(ids[i]);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kFormat) throw;
        continue;
      }
      // Small at once: eight large photos would take gigabytes.
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

}  // namespace annulus::server
