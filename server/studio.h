// One open project of the studio with its encoder and its model: features and fits follow the changes by themselves.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "annulus/base/clock.h"
#include "annulus/base/worker_thread.h"
#include "annulus/eval/audit.h"
#include "annulus/eval/class_map.h"
#include "annulus/learn/recogniser.h"
#include "annulus/store/encoder.h"
#include "annulus/store/feature_cache.h"
#include "annulus/store/project.h"

namespace annulus::server {

struct StudioOptions {
  std::filesystem::path project;
  std::filesystem::path cache;  // of features; empty: the user's
  int threads = 0;
};

// A model of the project as it was; never changed once published.
struct StudioModel {
  Model model;
  std::unique_ptr<Recogniser> recogniser;  // looks at `model`
  std::string content;                     // ProjectState::content_checksum it was learnt from
  std::size_t held_out = 0;                // rows that were held out; 0: nothing is known about new photos
  std::size_t held_out_right = 0;
  double seconds = 0.0;
};

// What there is to know about the data itself.
struct StudioAnalysis {
  std::string content;
  std::vector<std::string> class_names;
  std::vector<std::size_t> class_rows;
  std::vector<std::string> photos;  // id of each row
  ClassMap map;
  std::vector<ConfusedClasses> confused;
  AuditReport audit;
};

struct StudioStatus {
  std::uint64_t version = 0;  // grows with everything that a page might show
  std::string stage;          // "", "backbone", "features", "fit" or "analysis"
  std::size_t done = 0;
  std::size_t total = 0;
  std::string detail;
  std::string trouble;      // what keeps the model from being learnt; empty: nothing
  std::size_t waiting = 0;  // photos without features
  bool model_current = false;
  bool analysis_current = false;
};

// Every function may be called from any thread.
class Studio {
 public:
  // Opens the project; `changed` is called, from any thread and without a lock, whenever status() has a new version.
  Studio(StudioOptions options, std::function<void()> changed);
  // Stops the work under way.
  ~Studio();
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  template <class Reader>
  auto read(const Reader& reader) const {
    const std::lock_guard lock(mutex_);
    return reader(static_cast<const Project&>(project_));
  }
  // The change is on disk when this returns.
  template <class Changer>
  auto change(const Changer& changer) {
    struct Noting {
      Studio& studio;
      ~Noting() { studio.note_change(); }
    } noting{*this};
    const std::lock_guard lock(mutex_);
    return changer(project_);
  }

  StudioStatus status() const;
  // Why a photo has no features; empty when it has, or will have.
  std::string trouble_of(const std::string& id) const;
  std::vector<std::string> troubled() const;

  std::shared_ptr<const Encoder> encoder() const;          // null until it is open
  std::shared_ptr<const StudioModel> model() const;        // null until there is one
  std::shared_ptr<const StudioAnalysis> analysis() const;  // the latest, perhaps of an earlier state; null: none yet
  void want_analysis();
  // Tries again what failed (no network).
  void retry();

  // The small picture of a photo as WebP, from memory when it was asked for before. Throws Error{kUsage} when there is
  // no such photo, Error{kFormat} when it cannot be decoded.
  std::shared_ptr<const std::string> thumbnail(const std::string& id, std::size_t side);

 private:
  struct Snapshot;

  void note_change();
  void work();
  bool work_once(std::unique_lock<std::mutex>& lock);
  void open_encoder_once(std::unique_lock<std::mutex>& lock);
  void encode_some(std::unique_lock<std::mutex>& lock);
  void fit_once(std::unique_lock<std::mutex>& lock);
  void analyse_once(std::unique_lock<std::mutex>& lock);
  std::shared_ptr<StudioModel> load_model() const;
  Snapshot snapshot() const;
  std::shared_ptr<StudioModel> learn(Snapshot data, const ProgressCallback& progress) const;
  std::shared_ptr<StudioAnalysis> analyse(const Snapshot& data, const ProgressCallback& progress) const;
  // Tells of work that is stopped when the state is no longer `content`.
  ProgressCallback telling(std::string stage, std::string content);
  void tell(std::unique_lock<std::mutex>& lock, StudioStatus status);
  void find_waiting();
  std::size_t usable_classes() const;

  StudioOptions options_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  Project project_;
  std::string content_;  // of the project's state
  std::shared_ptr<const Encoder> encoder_;
  std::unique_ptr<FeatureCache> cache_;
  std::unordered_map<std::string, std::uint64_t> positions_;  // photo: row of the cache
  std::unordered_map<std::string, std::string> troubles_;     // photo: why it has no features
  std::vector<std::string> waiting_;                          // photos without features, the last is next
  std::size_t waiting_at_most_ = 0;                           // since there were none: the total of the progress
  StudioStatus status_;
  std::string failed_content_;  // whose fit failed, for status_.trouble
  std::shared_ptr<const StudioModel> model_;
  std::shared_ptr<const StudioAnalysis> analysis_;
  bool analysis_wanted_ = false;
  bool stopping_ = false;
  SteadyTime last_change_{};
  SteadyTime last_told_{};

  std::mutex thumbnails_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> thumbnails_;
  std::size_t thumbnail_bytes_ = 0;

  WorkerThread worker_;  // last: begins when all else is there
};

}  // namespace annulus::server
