// One open project of the studio with its encoder and its model: features and fits follow the changes by themselves.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
#include "annulus/vision/image.h"

namespace annulus::server {

inline constexpr std::size_t kSmallSide = 96;  // of pictures in lists, in pixels

struct StudioOptions {
  std::filesystem::path project;
  std::filesystem::path cache;  // of features; empty: the user's
  int threads = 0;
  std::string id{};  // by which requests say which studio they mean
};

// A model of the project as it was; never changed once published.
struct StudioModel {
  Model model;
  std::unique_ptr<Recogniser> recogniser;  // looks at `model`
  std::string content;                     // ProjectState::content_checksum of the photos it was learnt from
  std::size_t held_out = 0;                // rows that were held out; 0: nothing is known about new photos
  std::size_t held_out_right = 0;
  // False: it follows small changes since the last fit, whose probabilities and held-out rows it keeps.
  bool thorough = false;
  std::uint64_t number = 0;  // of the models since the start
  double seconds = 0.0;
};

// The rows of one moment in a plane: there long before the rest of an analysis.
struct StudioMap {
  std::string content;
  std::vector<std::string> class_names;
  std::vector<std::size_t> class_rows;
  std::vector<std::string> photos;   // id of each row
  std::vector<std::int32_t> labels;  // of each row
  ClassMap map;
  std::uint64_t number = 0;  // of the maps since the start
};

// What there is to know about the data itself.
struct StudioAnalysis {
  std::shared_ptr<const StudioMap> rows;
  std::vector<ConfusedClasses> confused;
  AuditReport audit;
  std::uint64_t number = 0;  // of the analyses since the start
};

struct StudioStatus {
  std::uint64_t version = 0;  // grows with everything that a page might show
  std::string stage;          // "", "backbone", "features", "follow", "fit" or "analysis"
  std::size_t done = 0;
  std::size_t total = 0;
  std::string detail;
  std::string trouble;          // what keeps the model from being learnt; empty: nothing
  std::size_t waiting = 0;      // photos without features
  bool model_current = false;   // knows the photos there are now
  bool model_thorough = false;  // and was learnt from them anew
  bool analysis_current = false;
};

// Every function may be called from any thread.
class Studio {
 public:
  // Opens the project; `changed` is called, from any thread and without a lock, whenever status() has a new version.
  Studio(StudioOptions options, std::function<void()> changed);
  ~Studio();
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  // Stops the work under way and waits for it: whoever shares a studio calls this before letting go of it, lest the
  // work, which may share it too, is what destroys it. Not from `changed`.
  void stop();
  const std::string& id() const { return options_.id; }

  template <class Reader>
  auto read(const Reader& reader) const {
    const std::lock_guard lock(mutex_);
    return reader(static_cast<const Project&>(project_));
  }
  // The change is on disk when this returns.
  template <class Changer>
  auto change(const Changer& changer) {
    // In the opposite order at the end: noted before the lock is given back, told of after.
    struct Telling {
      Studio& studio;
      ~Telling() { studio.tell_change(); }
    } telling{*this};
    const std::lock_guard lock(mutex_);
    struct Noting {
      Studio& studio;
      ~Noting() { studio.note_change(); }
    } noting{*this};
    return changer(project_);
  }

  StudioStatus status() const;
  // Why a photo has no features; empty when it has, or will have.
  std::string trouble_of(const std::string& id) const;
  std::vector<std::string> troubled() const;

  std::shared_ptr<const Encoder> encoder() const;    // null until it is open
  std::shared_ptr<const StudioModel> model() const;  // null until there is one
  // The latest, perhaps of an earlier state; null: none yet.
  std::shared_ptr<const StudioMap> map() const;
  std::shared_ptr<const StudioAnalysis> analysis() const;
  void want_analysis();
  // Tries again what failed (no network, files that could not be read).
  void retry();

  // The small picture of a photo as WebP, from memory when it was asked for before. Throws Error{kUsage} when there is
  // no such photo, Error{kFormat} when it cannot be decoded.
  std::shared_ptr<const std::string> thumbnail(const std::string& id, std::size_t side);
  // Squares of several photos in one WebP, with a gap of side / 12 after each; what cannot be decoded is white.
  std::shared_ptr<const std::string> covers(std::span<const std::string> ids, std::size_t side);

 private:
  static constexpr const char* kFit = "fit";
  struct Snapshot;

  void note_change();  // with the lock held
  void tell_change();
  void work();
  bool work_once(std::unique_lock<std::mutex>& lock);
  void open_encoder_once(std::unique_lock<std::mutex>& lock);
  void encode_some(std::unique_lock<std::mutex>& lock);
  bool follow_once(std::unique_lock<std::mutex>& lock);
  void fit_once(std::unique_lock<std::mutex>& lock);
  bool analysis_awaited() const;
  void analyse_once(std::unique_lock<std::mutex>& lock);
  std::shared_ptr<StudioModel> load_model() const;
  Snapshot snapshot(std::unique_lock<std::mutex>& lock) const;
  std::map<std::string, std::string> renamed_classes(const Model& model) const;
  std::shared_ptr<StudioModel> learn(Snapshot there, int threads, const ProgressCallback& progress) const;
  void publish(std::unique_lock<std::mutex>& lock, std::shared_ptr<StudioModel> model);
  std::shared_ptr<const StudioMap> draw_map(const Snapshot& there, const Matrix<float>& rows) const;
  // `rows` are those of the snapshot, of length 1.
  std::shared_ptr<StudioAnalysis> analyse(Snapshot there, const Matrix<float>& rows,
                                          const ProgressCallback& progress) const;
  // Tells of work that is stopped when the photos with features are no longer `content`.
  ProgressCallback telling(std::string stage, std::string content);
  void tell(std::unique_lock<std::mutex>& lock, StudioStatus status);
  void find_waiting();
  void note_used();
  bool knows_all(const std::string& content) const { return !used_.empty() && content == used_; }
  std::size_t usable_classes() const;
  Image read_photo(const std::string& id) const;
  std::shared_ptr<const std::string> kept_picture(const std::string& key, const std::function<std::string()>& make);

  StudioOptions options_;
  std::function<void()> changed_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  Project project_;
  std::string content_;  // of the project's state
  std::string used_;     // of the photos that have features; empty while some are still to get them
  std::shared_ptr<const Encoder> encoder_;
  std::unique_ptr<FeatureCache> cache_;
  std::unordered_map<std::string, std::uint64_t> positions_;  // photo: row of the cache
  std::unordered_map<std::string, std::string> troubles_;     // photo: why it has no features
  std::vector<std::string> waiting_;                          // photos without features, the last is next
  std::size_t waiting_at_most_ = 0;                           // since there were none: the total of the progress
  StudioStatus status_;
  std::string failed_content_;  // whose fit failed, for status_.trouble
  std::shared_ptr<const StudioModel> model_;
  std::shared_ptr<const StudioModel> thorough_;  // the latest of a fit: what undo may lead back to
  std::uint64_t models_ = 0;                     // so far
  std::shared_ptr<const StudioMap> map_;
  std::shared_ptr<const StudioAnalysis> analysis_;
  bool analysis_wanted_ = false;
  bool stopping_ = false;
  SteadyTime last_change_{};
  SteadyTime last_model_{};
  SteadyTime last_told_{};

  std::mutex thumbnails_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> thumbnails_;
  std::size_t thumbnail_bytes_ = 0;

  std::optional<WorkerThread> worker_;  // begins when all else is there; none once stopped
};

}  // namespace annulus::server
