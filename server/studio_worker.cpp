// The studio's background work: the backbone, features of new photos, then the model takes them in (studio_model.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/parallel.h"
#include "annulus/store/extract.h"
#include "annulus/store/image_file.h"
#include "annulus/vision/preprocess.h"
#include "server/studio.h"

namespace annulus::server {
namespace {

constexpr double kQuietSeconds = 0.15;    // after a change before it is learnt: a burst of changes is one
constexpr double kThoroughSeconds = 1.5;  // after a change before everything is learnt anew
constexpr double kIdleSeconds = 0.1;      // between two looks when nothing has changed
constexpr double kTellSeconds = 0.1;      // between two notices of progress
constexpr std::size_t kBlock = 8;         // photos that are encoded between two looks at what has changed

Digest digest_of(const std::string& hex) {
  Digest digest{};
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(value(hex[2 * i]) * 16 + value(hex[2 * i + 1]));
  }
  return digest;
}

}  // namespace

void Studio::work() {
  std::unique_lock lock(mutex_);
  if (auto loaded = load_model()) publish(lock, std::move(loaded));
  find_waiting();
  while (!stopping_) {
    bool worked = false;
    try {
      worked = work_once(lock);
    } catch (const Error& error) {
      if (!lock.owns_lock()) lock.lock();
      worked = true;
      if (error.kind() != ErrorKind::kCancelled) {
        StudioStatus status;
        status.trouble = error.what();
        failed_content_ = content_;
        tell(lock, status);
      }
    } catch (const std::exception& error) {
      if (!lock.owns_lock()) lock.lock();
      StudioStatus status;
      status.trouble = fmt::format("unexpected error: {}", error.what());
      failed_content_ = content_;
      worked = true;
      tell(lock, status);
    }
    if (worked || stopping_) continue;
    if (!status_.stage.empty()) tell(lock, {});
    const double left = kQuietSeconds - seconds_since(last_change_);
    wake_.wait_for(lock, std::chrono::duration<double>(left > 0.0 ? left : kIdleSeconds));
  }
}

// True when something was done, and there may be more.
bool Studio::work_once(std::unique_lock<std::mutex>& lock) {
  if (failed_content_ == content_ && !failed_content_.empty()) return false;
  if (!encoder_) {
    if (project_.state().photo_count() == 0) return false;
    open_encoder_once(lock);
    return true;
  }
  if (!waiting_.empty()) {
    encode_some(lock);
    return true;
  }
  if (seconds_since(last_change_) < kQuietSeconds || usable_classes() < 2) return false;
  if (!model_ || !knows_all(model_->content)) {
    if (thorough_ && knows_all(thorough_->content)) {
      model_ = thorough_;
      tell(lock, {});
    } else if (!follow_once(lock)) {
      fit_once(lock);
    }
    return true;
  }
  if (analysis_awaited()) {
    analyse_once(lock);
    return true;
  }
  // Also after a model has come: whoever waits for its answer has the processors first.
  if (model_->thorough || seconds_since(last_change_) < kThoroughSeconds ||
      seconds_since(last_model_) < kThoroughSeconds / 2) {
    return false;
  }
  fit_once(lock);
  return true;
}

bool Studio::analysis_awaited() const {
  return analysis_wanted_ && (!analysis_ || !knows_all(analysis_->rows->content));
}

// Publishes; without a stage it also says that nothing is under way.
void Studio::tell(std::unique_lock<std::mutex>& lock, StudioStatus status) {
  status.version = status_.version + 1;
  status_ = std::move(status);
  last_told_ = now();
  lock.unlock();
  changed_();
  lock.lock();
}

ProgressCallback Studio::telling(std::string stage, std::string content) {
  return [this, stage = std::move(stage), content = std::move(content)](const Progress& progress) {
    std::unique_lock lock(mutex_);
    if (stopping_ || (!content.empty() && content != used_)) return false;
    // Whoever looks at findings does not wait for a fit that only makes a model better.
    if (stage == kFit && model_ && knows_all(model_->content) && analysis_awaited()) return false;
    if (status_.stage == stage && seconds_since(last_told_) < kTellSeconds) return true;
    StudioStatus status;
    status.stage = stage;
    status.done = progress.done;
    status.total = progress.total;
    status.detail = progress.stage;
    tell(lock, status);
    return true;
  };
}

void Studio::open_encoder_once(std::unique_lock<std::mutex>& lock) {
  StudioStatus status;
  status.stage = "backbone";
  status.detail = project_.backbone();
  tell(lock, status);
  EncoderOptions options;
  options.backbone = project_.backbone();
  options.cache = options_.cache.string();
  lock.unlock();
  auto encoder = std::make_shared<const Encoder>(open_encoder(options, telling("backbone", {})));
  auto cache =
      std::make_unique<FeatureCache>(options_.cache.empty() ? cache_folder() / "features" : options_.cache,
                                     feature_maker(encoder->backbone, encoder->recipe), encoder->backbone.dimension());
  lock.lock();
  encoder_ = std::move(encoder);
  cache_ = std::move(cache);
  find_waiting();
}

// Photos of the state that have neither features nor a reason not to have any.
void Studio::find_waiting() {
  waiting_.clear();
  std::vector<float> row(encoder_ ? encoder_->backbone.dimension() : 0);
  for (const auto& [name, entry] : project_.state().classes()) {
    for (const std::string& id : entry.photos) {
      if (positions_.contains(id) || troubles_.contains(id)) continue;
      const auto position =
          cache_ ? cache_->find(digest_of(project_.state().photo(id).sha256)) : std::optional<std::uint64_t>();
      if (position && cache_->read(*position, row)) {
        positions_.emplace(id, *position);
      } else {
        waiting_.push_back(id);
      }
    }
  }
  std::reverse(waiting_.begin(), waiting_.end());
  waiting_at_most_ = waiting_.empty() ? 0 : std::max(waiting_at_most_, waiting_.size());
  note_used();
}

void Studio::note_used() {
  used_.clear();
  if (!waiting_.empty()) return;
  used_ = project_.state().content_checksum([&](const std::string& id) { return positions_.contains(id); });
}

std::size_t Studio::usable_classes() const {
  std::size_t count = 0;
  for (const auto& [name, entry] : project_.state().classes()) {
    count += std::any_of(entry.photos.begin(), entry.photos.end(),
                         [&](const std::string& id) { return positions_.contains(id); })
                 ? 1U
                 : 0U;
  }
  return count;
}

void Studio::encode_some(std::unique_lock<std::mutex>& lock) {
  struct Job {
    Photo photo;
    std::filesystem::path path;
    std::uint64_t position = 0;
    std::string trouble{};
    bool moved = false;
    bool kept = true;  // false: the features are there, but the cache did not take them
  };
  std::vector<Job> jobs;
  while (jobs.size() < kBlock && !waiting_.empty()) {
    const std::string id = std::move(waiting_.back());
    waiting_.pop_back();
    const Photo& photo = project_.state().photo(id);
    if (positions_.contains(id) || photo.class_name.empty()) continue;
    jobs.push_back({photo, project_.path_of(photo)});
  }
  const auto encoder = encoder_;
  FeatureCache& cache = *cache_;
  lock.unlock();
  parallel_for(options_.threads, jobs.size(), [&](std::size_t i) {
    Job& job = jobs[i];
    try {
      const auto bytes = load_image_bytes(job.path, decode_options(encoder->recipe).limits.max_bytes);
      const auto row = extract_image(bytes, job.photo.name, encoder->backbone, encoder->recipe);
      job.kept = false;
      job.position = cache.append(digest_of(job.photo.sha256), row);
      job.kept = true;
    } catch (const Error& error) {
      job.moved = error.kind() == ErrorKind::kIo;
      job.trouble = error.what();
    }
  });
  lock.lock();
  std::string full;  // why the cache took no features: no fault of the photos
  for (const Job& job : jobs) {
    if (job.trouble.empty()) {
      positions_.emplace(job.photo.id, job.position);
    } else if (!job.kept) {
      full = job.trouble;
      waiting_.push_back(job.photo.id);
    } else if (job.moved && project_.path_of(project_.state().photo(job.photo.id)) != job.path) {
      waiting_.push_back(job.photo.id);
    } else {
      troubles_.emplace(job.photo.id, job.trouble);
    }
  }
  note_used();
  if (!full.empty()) fail(ErrorKind::kIo, "{}", full);
  if (!waiting_.empty() && seconds_since(last_told_) < kTellSeconds) return;
  StudioStatus status;
  status.stage = "features";
  status.total = waiting_at_most_;
  status.done = status.total - std::min(status.total, waiting_.size());
  if (waiting_.empty()) waiting_at_most_ = 0;
  tell(lock, status);
}

}  // namespace annulus::server
