// The Inbox of a project: unsorted photos in groups, and which of them to label next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/pool/label_next.h"
#include "studio_engine/feature_queue.h"
#include "studio_engine/inbox/inbox_groups.h"
#include "studio_engine/model_trainer.h"

namespace annulus::studio {

// The photos of one moment in groups.
struct InboxView {
  std::string content;       // InboxSnapshot::content
  std::uint64_t model = 0;   // TrainedModel::number of the suggestions; 0: there are none
  std::uint64_t number = 0;  // of the views since the start
  std::vector<InboxGroup> groups{};
};

// The photos whose labels would help most, the first of them first.
struct NextPhotos {
  struct Choice {
    std::string photo;
    LabelReason reason = LabelReason::kTypical;
    std::size_t stands_for = 0;  // photos that resemble it most
  };
  std::vector<Choice> choices{};
  std::uint64_t number = 0;  // of the choices since the start
};

// Groups are made once for every batch of new photos and kept while photos leave and come back; suggestions follow the
// model. One mutex guards the latest results; the work is done without it. One thread, the worker, calls run(); all
// others may be called from any thread.
class Inbox {
 public:
  explicit Inbox(int threads) : threads_(threads) {}

  std::shared_ptr<const InboxView> view() const;   // the latest, perhaps of an earlier state; null: none yet
  std::shared_ptr<const NextPhotos> next() const;  // the latest; null: none yet

  // From now on, next() is wanted.
  void request_next();
  // Whether there is something to do for the photos `content` and the model `model` (0: none).
  bool due(const std::string& content, std::uint64_t model) const;

  // Makes view(), and next() if it is wanted. `labelled` gives the photos of classes. Throws Error{kCancelled} when
  // `progress` returns false.
  void run(const InboxSnapshot& snapshot, const std::shared_ptr<const TrainedModel>& model,
           const std::function<LabelledExamples()>& labelled, const ProgressCallback& progress);

 private:
  void group(const InboxSnapshot& snapshot, const ProgressCallback& progress);
  AlikePhotos alike_of(const InboxSnapshot& snapshot) const;
  void show(const InboxSnapshot& snapshot, const TrainedModel* model);
  void choose_next(const InboxSnapshot& snapshot, const TrainedModel* model,
                   const std::function<LabelledExamples()>& labelled, const ProgressCallback& progress);

  const int threads_;
  // Of the worker alone: each photo's group and its place there, the most typical first.
  std::unordered_map<std::string, std::pair<std::uint32_t, std::uint32_t>> groups_;
  std::uint64_t groupings_ = 0;
  mutable std::mutex mutex_;  // guards all below
  std::shared_ptr<const InboxView> view_;
  std::shared_ptr<const NextPhotos> next_;
  bool next_requested_ = false;
  std::uint64_t next_for_ = 0;  // number of the view that next_ was last looked at for
};

}  // namespace annulus::studio
