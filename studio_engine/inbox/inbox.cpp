// Groups new photos, asks the model about all of them, and keeps the results.
#include "studio_engine/inbox/inbox.h"

#include <algorithm>
#include <set>
#include <utility>

namespace annulus::studio {
namespace {

constexpr std::size_t kNextPhotos = 20;     // chosen at once
constexpr std::size_t kFewLeft = 5;         // fewer of them left: others are chosen
constexpr std::size_t kQuickPhotos = 4000;  // of so many at most, photos are chosen anew for every view

}  // namespace

std::shared_ptr<const InboxView> Inbox::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

std::shared_ptr<const NextPhotos> Inbox::next() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

void Inbox::request_next() {
  const std::lock_guard lock(mutex_);
  next_requested_ = true;
}

bool Inbox::due(const std::string& content, std::uint64_t model) const {
  if (content.empty()) return false;  // photos wait for their features
  const std::lock_guard lock(mutex_);
  if (!view_ || view_->content != content || view_->model != model) return true;
  return next_requested_ && next_for_ != view_->number;
}

void Inbox::run(const InboxSnapshot& snapshot, const std::shared_ptr<const TrainedModel>& model,
                const std::function<LabelledExamples()>& labelled, const ProgressCallback& progress) {
  const auto before = view();
  if (!before || before->content != snapshot.content || before->model != (model ? model->number : 0)) {
    const bool new_photos = std::any_of(snapshot.photos.begin(), snapshot.photos.end(),
                                        [&](const std::string& id) { return !groups_.contains(id); });
    if (new_photos) group(snapshot, progress);
    show(snapshot, model.get());
  }
  bool wanted = false;
  {
    const std::lock_guard lock(mutex_);
    wanted = next_requested_ && next_for_ != view_->number;
  }
  if (wanted) choose_next(snapshot, model.get(), labelled, progress);
}

void Inbox::group(const InboxSnapshot& snapshot, const ProgressCallback& progress) {
  const AlikePhotos alike = alike_photos(std::as_const(snapshot.features).view(), snapshot.photos, threads_, progress);
  groups_.clear();
  ++groupings_;
  for (std::uint32_t g = 0; g < alike.size(); ++g) {
    for (std::uint32_t place = 0; place < alike[g].size(); ++place) {
      groups_.emplace(snapshot.photos[alike[g][place]], std::pair(g, place));
    }
  }
}

// The groups, without photos that have left.
AlikePhotos Inbox::alike_of(const InboxSnapshot& snapshot) const {
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> places;
  for (std::uint32_t row = 0; row < snapshot.photos.size(); ++row) {
    places.emplace_back(groups_.at(snapshot.photos[row]), row);
  }
  std::sort(places.begin(), places.end());
  AlikePhotos alike;
  for (const auto& [place, row] : places) {
    if (place.first >= alike.size()) alike.resize(place.first + 1);
    alike[place.first].push_back(row);
  }
  return alike;  // a group that is empty keeps its number
}

void Inbox::show(const InboxSnapshot& snapshot, const TrainedModel* model) {
  auto view = std::make_shared<InboxView>();
  view->content = snapshot.content;
  std::vector<Prediction> predictions;
  std::vector<std::string> class_names;
  if (model != nullptr && !snapshot.photos.empty()) {
    PredictorOptions options;
    options.top = kLikelyClasses;
    options.threads = threads_;
    predictions = Predictor(model->model, options).predict(std::as_const(snapshot.features).view());
    class_names = model->model.class_names;
  }
  view->model = model != nullptr ? model->number : 0;
  view->groups = inbox_groups(alike_of(snapshot), snapshot.photos, predictions, class_names, groupings_);
  const std::lock_guard lock(mutex_);
  view->number = view_ ? view_->number + 1 : 1;
  view_ = std::move(view);
}

void Inbox::choose_next(const InboxSnapshot& snapshot, const TrainedModel* model,
                        const std::function<LabelledExamples()>& labelled, const ProgressCallback& progress) {
  const auto before = next();
  const std::set<std::string> there(snapshot.photos.begin(), snapshot.photos.end());
  auto chosen = std::make_shared<NextPhotos>();
  if (before) {
    for (const NextPhotos::Choice& choice : before->choices) {
      if (there.contains(choice.photo)) chosen->choices.push_back(choice);
    }
  }
  const bool quick = snapshot.photos.size() <= kQuickPhotos;
  if (!snapshot.photos.empty() && (quick || chosen->choices.size() < std::min(kFewLeft, snapshot.photos.size()))) {
    chosen->choices.clear();
    LabelNextOptions options;
    options.count = kNextPhotos;
    options.threads = threads_;
    LabelledExamples known = labelled();
    PoolKnowledge knowledge{std::move(known.features), std::move(known.labels), {}};
    const auto rows = std::as_const(snapshot.features).view();
    if (model != nullptr) knowledge.belief = belief_of(model->model, rows, kFalseReject, threads_);
    for (const LabelChoice& choice :
         label_next(snapshot.features.clone(), snapshot.photos, knowledge, options, progress)) {
      chosen->choices.push_back({snapshot.photos[choice.row], choice.reason, choice.stands_for});
    }
  }
  const std::lock_guard lock(mutex_);
  chosen->number = before ? before->number + 1 : 1;
  next_ = std::move(chosen);
  next_for_ = view_->number;
}

}  // namespace annulus::studio
