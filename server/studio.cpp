// What requests ask of an open project.
#include "server/studio.h"

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/image_file.h"
#include "annulus/store/model_file.h"
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
      last_change_(now()),
      worker_("studio", [this] { work(); }) {}

Studio::~Studio() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

StudioStatus Studio::status() const {
  const std::lock_guard lock(mutex_);
  StudioStatus status = status_;
  status.waiting = waiting_.size();
  status.model_current = model_ && model_->content == content_;
  status.analysis_current = analysis_ && analysis_->content == content_;
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
    status_.trouble.clear();
    ++status_.version;
  }
  wake_.notify_all();
  changed_();
}

void Studio::note_change() {
  {
    const std::lock_guard lock(mutex_);
    content_ = project_.state().content_checksum();
    last_change_ = now();
    find_waiting();
    ++status_.version;
  }
  wake_.notify_all();
  changed_();
}

std::shared_ptr<const std::string> Studio::thumbnail(const std::string& id, std::size_t side) {
  const std::string key = id + "." + std::to_string(side);
  {
    const std::lock_guard lock(thumbnails_mutex_);
    const auto found = thumbnails_.find(key);
    if (found != thumbnails_.end()) return found->second;
  }
  const auto path = [&] { return read([&](const Project& p) { return p.path_of(p.state().photo(id)); }); };
  Image image;
  try {
    image = read_image(path());
  } catch (const Error& error) {
    // It may have been moved to another class in between.
    if (error.kind() != ErrorKind::kIo) throw;
    image = read_image(path());
  }
  auto bytes = std::make_shared<const std::string>(thumbnail_webp(image, side));
  const std::lock_guard lock(thumbnails_mutex_);
  if (thumbnail_bytes_ + bytes->size() > kMostThumbnailBytes) {
    thumbnails_.clear();
    thumbnail_bytes_ = 0;
  }
  if (thumbnails_.emplace(key, bytes).second) thumbnail_bytes_ += bytes->size();
  return bytes;
}

}  // namespace annulus::server
