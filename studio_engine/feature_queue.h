// Photos that wait for their features, and the features of those that have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/feature_cache.h"
#include "studio_engine/project/shared_project.h"
#include "studio_engine/training_snapshot.h"

namespace annulus::studio {

// The photos that have features.
struct UsablePhotos {
  std::string content;      // ProjectState::content_checksum of them; empty while some still wait
  std::size_t classes = 0;  // that have such photos; 0 while some still wait
  std::string inbox{};      // ProjectState::inbox_checksum of those in the Inbox; empty while some of all still wait
};

// The photos of the Inbox that have features.
struct InboxSnapshot {
  std::string content;              // UsablePhotos::inbox of the moment
  std::vector<std::string> photos;  // id of each row
  Matrix<float> features;
};

// How far the queue is since it was last empty.
struct QueueProgress {
  std::size_t done = 0;
  std::size_t total = 0;
};

// One mutex guards everything that changes. Lock order: the project's before this one. Images are decoded and encoded,
// and cached features are read for a snapshot, without a lock. One thread, the worker, calls the functions that say so;
// all others may be called from any thread.
class FeatureQueue {
 public:
  // `project` must outlive the queue. cache_folder: of computed features; empty: the user's.
  FeatureQueue(const SharedProject& project, std::filesystem::path cache_folder, int threads);

  // Finds the photos of `state` that have neither features nor an error. Called with the project locked, after every
  // change, so that usable() never names photos that are no longer there.
  void follow(const ProjectState& state);
  // Forgets all errors: the photos wait again.
  void retry();

  std::shared_ptr<const Encoder> encoder() const;  // null until open() has returned
  std::size_t waiting() const;                     // of classes: they come first
  std::size_t waiting_inbox() const;               // of the Inbox
  UsablePhotos usable() const;
  // Why a photo has no features; empty when it has, or will have.
  std::string error_of(const std::string& id) const;
  // Ids of all photos of classes and the Inbox that have an error, in order.
  std::vector<std::string> failed() const;

  // Why features are not kept for the next time; empty: they are.
  std::string cache_warning() const;

  // For the worker: finds, downloads and opens the project's backbone and its cache of features.
  void open(const ProgressCallback& progress);
  // For the worker: computes the features of the next few photos. A photo that cannot be decoded gets an error. Throws
  // Error{kIo} when the cache takes no features: the photos wait again.
  QueueProgress encode_block();
  // For the worker: the photos that have features, with these. Throws Error{kCancelled} while some still wait.
  TrainingSnapshot snapshot() const;
  InboxSnapshot inbox_snapshot() const;

 private:
  struct Job;
  struct Rows;

  void find_waiting(const ProjectState& state);                          // with both locks
  void find_usable(const ProjectState& state);                           // with both locks
  bool find_features(const std::string& id, const ProjectState& state);  // with both locks
  void take_jobs(std::vector<std::string>& waiting, const Project& project, std::vector<Job>& jobs);
  std::vector<Job> take_jobs();
  void encode(std::vector<Job>& jobs) const;
  QueueProgress finish(const std::vector<Job>& jobs);

  const SharedProject& project_;
  const std::filesystem::path cache_folder_;
  const int threads_;
  mutable std::mutex mutex_;  // guards all below
  std::shared_ptr<const Encoder> encoder_;
  std::shared_ptr<FeatureCache> cache_;
  std::string cache_warning_;
  std::unordered_map<std::string, std::uint64_t> positions_;  // photo: row of the cache
  std::unordered_map<std::string, std::string> errors_;       // photo: why it has no features
  std::vector<std::string> waiting_;                          // photos without features, the last is next
  std::vector<std::string> waiting_inbox_;                    // the same of the Inbox
  std::size_t most_waiting_ = 0;                              // since the queue was last empty
  UsablePhotos usable_;
};

}  // namespace annulus::studio
