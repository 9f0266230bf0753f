// One open project of the studio: features, model and analysis follow its changes by themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/worker_thread.h"
#include "studio_engine/analysis.h"
#include "studio_engine/event_hub.h"
#include "studio_engine/exports.h"
#include "studio_engine/feature_queue.h"
#include "studio_engine/inbox/inbox.h"
#include "studio_engine/model_trainer.h"
#include "studio_engine/project/shared_project.h"
#include "studio_engine/thumbnails.h"
#include "studio_engine/work_schedule.h"

namespace annulus::studio {

struct StudioOptions {
  std::filesystem::path project;
  std::filesystem::path cache;  // of features; empty: the user's
  int threads = 0;              // 0: all processors
  std::string id{};             // by which requests say which studio they mean
};

struct StudioStatus {
  std::uint64_t version = 0;  // grows with every change that status() or another function can show
  WorkStatus work;
  std::size_t waiting = 0;  // photos of classes without features
  std::size_t waiting_inbox = 0;
  bool model_current = false;  // trained from the photos there are now
  bool analysis_current = false;
};

struct StudioPrediction {
  std::shared_ptr<const TrainedModel> model;  // that made it
  Prediction prediction;
};

// Wires the parts and decides what the worker does next: the backbone, features of new photos, an update or a fit of
// the model, groups of the Inbox, then the analysis. Every function may be called from any thread.
//
// Threads and locks. Studio has no mutex: each part guards itself and says how, and the parts do not know one another.
// One worker thread calls the parts' functions that are for the worker. Lock order: the project's mutex, then that of
// at most one part. `changed` and progress callbacks are called without a lock.
class Studio {
 public:
  // Opens the project. `changed` is called, from any thread and without a lock, whenever status() has a new version.
  Studio(StudioOptions options, std::function<void()> changed);
  ~Studio();
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  // Stops the work under way and waits for it. Whoever shares a studio calls this before letting go of it: `changed`
  // may share it too, and the worker must not be the one to destroy it. Not from `changed`, and from one thread only.
  void stop();
  const std::string& id() const { return options_.id; }
  // Why features are not kept for the next time; empty: they are.
  std::string cache_warning() const { return features_.cache_warning(); }

  template <class Reader>
  auto read(const Reader& reader) const {
    return project_.read(reader);
  }
  // The change is on disk when this returns, and the worker knows of it. A change that throws may have taken place.
  template <class Changer>
  auto change(const Changer& changer) {
    const AtExit announce{[this] { events_.notify(); }};
    return project_.change([&](Project& project) {
      const AtExit follow{[&] { follow_change(project.state()); }};
      return changer(project);
    });
  }

  StudioStatus status() const;
  // Why a photo has no features; empty when it has, or will have.
  std::string error_of(const std::string& id) const { return features_.error_of(id); }
  std::vector<std::string> failed() const { return features_.failed(); }

  std::shared_ptr<const Encoder> encoder() const { return features_.encoder(); }     // null until it is open
  std::shared_ptr<const TrainedModel> model() const { return trainer_.model(); }     // null until there is one
  std::shared_ptr<const PhotoMap> map() const { return analysis_.map(); }            // the latest; null: none yet
  std::shared_ptr<const Findings> findings() const { return analysis_.findings(); }  // the latest; null: none yet
  void request_analysis();
  std::shared_ptr<const InboxView> inbox() const { return inbox_.view(); }  // the latest; null: none yet
  std::shared_ptr<const NextPhotos> next() const { return inbox_.next(); }  // the latest; null: none yet
  void request_next();
  // Tries again what failed (no network, files that could not be read).
  void retry();

  // Of the bytes of an image file. Throws Error{kInput} while there is no model or no backbone, Error{kFormat} when the
  // image cannot be decoded.
  StudioPrediction predict(std::span<const std::byte> image) const;
  // The bytes of a file. Throws Error{kInput} when what it is made from is not there yet.
  std::string export_as(ExportKind kind);
  // Of what export_as(kWeb) will write, before it is packed; downloads what that needs.
  WebPageSize web_page_size() const;
  Thumbnails& thumbnails() { return thumbnails_; }

 private:
  struct AtExit {
    std::function<void()> run;
    ~AtExit() { run(); }
  };

  void follow_change(const ProjectState& state);
  // Throw Error{kInput} while there is none.
  std::shared_ptr<const TrainedModel> ready_model() const;
  std::shared_ptr<const Encoder> ready_encoder() const;
  void work();
  bool work_once();
  void train(const UsablePhotos& usable);
  void fit();
  void analyse();
  void look_at_photos();
  // The model that suggestions come from: null while fewer than two classes have photos.
  std::shared_ptr<const TrainedModel> suggesting_model() const;
  void sort_inbox();
  // Publishes the progress of a stage, which is stopped when the photos with features are no longer `content`.
  ProgressCallback progress_of(Stage stage, std::string content);

  const StudioOptions options_;
  SharedProject project_;
  EventHub events_;
  WorkSchedule schedule_;
  FeatureQueue features_;
  ModelTrainer trainer_;
  Analysis analysis_;
  Inbox inbox_;
  Thumbnails thumbnails_;
  std::optional<WorkerThread> worker_;  // starts when all else is there; none once stopped
};

}  // namespace annulus::studio
