// Computes features a few photos at a time, so that changes in between are seen soon.
#include "studio_engine/feature_queue.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/pipeline/encode.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus::studio {
namespace {

constexpr std::size_t kBlock = 8;           // photos that are encoded between two looks at what has changed
constexpr std::size_t kReadTogether = 256;  // cached features that one task reads

Digest digest_of(const std::string& hex) {
  Digest digest{};
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(value(hex[2 * i]) * 16 + value(hex[2 * i + 1]));
  }
  return digest;
}

}  // namespace

// A photo that is being encoded.
struct FeatureQueue::Job {
  Photo photo;
  std::filesystem::path path;
  std::uint64_t position = 0;
  std::string error{};
  bool unreadable = false;  // the file could not be read: it may have been moved
  bool uncached = false;    // the features are there, but the cache did not take them
};

FeatureQueue::FeatureQueue(const SharedProject& project, std::filesystem::path cache_folder, int threads)
    : project_(project), cache_folder_(std::move(cache_folder)), threads_(threads) {}

void FeatureQueue::follow(const ProjectState& state) {
  const std::lock_guard lock(mutex_);
  find_waiting(state);
}

void FeatureQueue::retry() {
  project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    errors_.clear();
    find_waiting(project.state());
  });
}

std::shared_ptr<const Encoder> FeatureQueue::encoder() const {
  const std::lock_guard lock(mutex_);
  return encoder_;
}

std::size_t FeatureQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

std::size_t FeatureQueue::waiting_inbox() const {
  const std::lock_guard lock(mutex_);
  return waiting_inbox_.size();
}

UsablePhotos FeatureQueue::usable() const {
  const std::lock_guard lock(mutex_);
  return usable_;
}

std::string FeatureQueue::error_of(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.find(id);
  return found == errors_.end() ? std::string() : found->second;
}

std::vector<std::string> FeatureQueue::failed() const {
  std::vector<std::string> ids;
  project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, reason] : errors_) {
      const auto photo = project.state().photos().find(id);
      if (photo != project.state().photos().end() && !photo->second.class_name.empty()) ids.push_back(id);
    }
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string FeatureQueue::cache_warning() const {
  const std::lock_guard lock(mutex_);
  return cache_warning_;
}

void FeatureQueue::open(const ProgressCallback& progress) {
  EncoderOptions options;
  options.backbone = project_.read([](const Project& project) { return project.backbone(); });
  options.cache = cache_folder_.string();
  options.note = [&progress](const std::string& line) { report(progress, {line, 0, 0, {}}); };
  auto encoder = std::make_shared<const Encoder>(open_encoder(options, progress));
  std::string warning;
  std::shared_ptr<FeatureCache> cache =
      open_feature_cache(cache_folder_, feature_maker(*encoder), encoder->dimension(), warning);
  project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    encoder_ = std::move(encoder);
    cache_ = std::move(cache);
    cache_warning_ = std::move(warning);
    find_waiting(project.state());
  });
}

// Whether a photo has features, or an error instead of them.
bool FeatureQueue::find_features(const std::string& id, const ProjectState& state) {
  if (positions_.contains(id) || errors_.contains(id)) return true;
  if (!cache_) return false;
  const auto position = cache_->find(digest_of(state.photo(id).sha256));
  std::vector<float> row(encoder_->dimension());
  if (!position || !cache_->read(*position, row)) return false;
  positions_.emplace(id, *position);
  return true;
}

void FeatureQueue::find_waiting(const ProjectState& state) {
  waiting_.clear();
  waiting_inbox_.clear();
  for (const auto& [name, entry] : state.classes()) {
    for (const std::string& id : entry.photos) {
      if (!find_features(id, state)) waiting_.push_back(id);
    }
  }
  for (const std::string& id : state.inbox()) {
    if (!find_features(id, state)) waiting_inbox_.push_back(id);
  }
  std::reverse(waiting_.begin(), waiting_.end());
  std::reverse(waiting_inbox_.begin(), waiting_inbox_.end());
  const std::size_t waiting = waiting_.size() + waiting_inbox_.size();
  most_waiting_ = waiting == 0 ? 0 : std::max(most_waiting_, waiting);
  find_usable(state);
}

void FeatureQueue::find_usable(const ProjectState& state) {
  usable_ = {};
  if (!waiting_.empty()) return;
  const auto has_features = [&](const std::string& id) { return positions_.contains(id); };
  usable_.content = state.content_checksum(has_features);
  for (const auto& [name, entry] : state.classes()) {
    usable_.classes += std::any_of(entry.photos.begin(), entry.photos.end(), has_features) ? 1U : 0U;
  }
  if (waiting_inbox_.empty()) usable_.inbox = state.inbox_checksum(has_features);
}

QueueProgress FeatureQueue::encode_block() {
  std::vector<Job> jobs = take_jobs();
  encode(jobs);
  return finish(jobs);
}

void FeatureQueue::take_jobs(std::vector<std::string>& waiting, const Project& project, std::vector<Job>& jobs) {
  while (jobs.size() < kBlock && !waiting.empty()) {
    const std::string id = std::move(waiting.back());
    waiting.pop_back();
    const Photo& photo = project.state().photo(id);
    if (positions_.contains(id) || photo.class_name.empty()) continue;
    jobs.push_back({photo, project.path_of(photo)});
  }
}

std::vector<FeatureQueue::Job> FeatureQueue::take_jobs() {
  return project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    std::vector<Job> jobs;
    take_jobs(waiting_, project, jobs);
    if (jobs.empty()) take_jobs(waiting_inbox_, project, jobs);
    return jobs;
  });
}

void FeatureQueue::encode(std::vector<Job>& jobs) const {
  std::shared_ptr<const Encoder> encoder;
  std::shared_ptr<FeatureCache> cache;
  {
    const std::lock_guard lock(mutex_);
    encoder = encoder_;
    cache = cache_;
  }
  parallel_for(threads_, jobs.size(), [&](std::size_t i) {
    Job& job = jobs[i];
    try {
      const auto bytes = load_image_bytes(job.path, decode_options(encoder->parts.front().recipe).limits.max_bytes);
      const auto row = encode_image(bytes, job.photo.name, *encoder);
      job.uncached = true;
      job.position = cache->append(digest_of(job.photo.sha256), row);
      job.uncached = false;
    } catch (const Error& error) {
      job.unreadable = error.kind() == ErrorKind::kIo;
      job.error = error.what();
    }
  });
}

QueueProgress FeatureQueue::finish(const std::vector<Job>& jobs) {
  std::string cache_error;  // no fault of the photos
  const QueueProgress progress = project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    const auto waits_again = [&](const std::string& id) {
      (project.state().photo(id).class_name == kInbox ? waiting_inbox_ : waiting_).push_back(id);
    };
    for (const Job& job : jobs) {
      if (job.error.empty()) {
        positions_.emplace(job.photo.id, job.position);
      } else if (job.uncached) {
        cache_error = job.error;
        waits_again(job.photo.id);
      } else if (job.unreadable && project.path_of(project.state().photo(job.photo.id)) != job.path) {
        waits_again(job.photo.id);
      } else {
        errors_.emplace(job.photo.id, job.error);
      }
    }
    find_usable(project.state());
    const std::size_t left = waiting_.size() + waiting_inbox_.size();
    const QueueProgress now_there{most_waiting_ - std::min(most_waiting_, left), most_waiting_};
    if (left == 0) most_waiting_ = 0;
    return now_there;
  });
  if (!cache_error.empty()) fail(ErrorKind::kIo, "{}", cache_error);
  return progress;
}

// Rows of the cache that are read without a lock.
struct FeatureQueue::Rows {
  std::vector<std::uint64_t> positions{};
  std::shared_ptr<const FeatureCache> cache{};
  std::size_t dimension = 0;

  Matrix<float> read(int threads) const {
    Matrix<float> features(positions.size(), dimension);
    parallel_for(threads, (positions.size() + kReadTogether - 1) / kReadTogether, [&](std::size_t task) {
      for (std::size_t i = task * kReadTogether; i < std::min((task + 1) * kReadTogether, positions.size()); ++i) {
        if (cache->read(positions[i], features.row(i))) continue;
        fail(ErrorKind::kIo, "cached features were damaged while they were in use; start the studio again");
      }
    });
    return features;
  }
};

TrainingSnapshot FeatureQueue::snapshot() const {
  TrainingSnapshot snapshot;
  TrainingData& data = snapshot.data;
  Rows rows;
  project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    if (!encoder_ || usable_.content.empty()) fail(ErrorKind::kCancelled, "photos came that have no features yet");
    const ProjectState& state = project.state();
    snapshot.content = usable_.content;
    for (const auto& [name, entry] : state.classes()) {
      snapshot.project_classes.insert(name);
      const std::size_t before = rows.positions.size();
      for (const std::string& id : entry.photos) {
        const auto found = positions_.find(id);
        if (found == positions_.end()) continue;
        rows.positions.push_back(found->second);
        snapshot.photos.push_back(id);
        data.paths.push_back(Project::name_of(state.photo(id)));
        data.rows.labels.push_back(static_cast<std::int32_t>(data.class_names.size()));
      }
      if (rows.positions.size() > before) data.class_names.push_back(name);
    }
    data.provenance = feature_provenance(*encoder_);
    data.provenance["source"] = project.folder().filename().string();
    rows.cache = cache_;
    rows.dimension = encoder_->dimension();
  });
  data.rows.classes = data.class_names.size();
  data.provenance[kContentKey] = snapshot.content;
  data.rows.features = rows.read(threads_);
  return snapshot;
}

InboxSnapshot FeatureQueue::inbox_snapshot() const {
  InboxSnapshot snapshot;
  Rows rows;
  project_.read([&](const Project& project) {
    const std::lock_guard lock(mutex_);
    if (!encoder_ || usable_.inbox.empty()) fail(ErrorKind::kCancelled, "photos came that have no features yet");
    snapshot.content = usable_.inbox;
    for (const std::string& id : project.state().inbox()) {
      const auto found = positions_.find(id);
      if (found == positions_.end()) continue;
      rows.positions.push_back(found->second);
      snapshot.photos.push_back(id);
    }
    rows.cache = cache_;
    rows.dimension = encoder_->dimension();
  });
  snapshot.features = rows.read(threads_);
  return snapshot;
}

}  // namespace annulus::studio
