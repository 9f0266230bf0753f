// What the studio's worker does next, and what requests ask of the parts together.
#include "studio_engine/studio.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/encode.h"
#include "annulus/pipeline/export/model_card.h"
#include "annulus/store/models/model_file.h"

namespace annulus::studio {
namespace {

constexpr double kQuietSeconds = 0.15;  // after a change before the model is updated: a burst of changes is one
constexpr double kFitSeconds = 1.5;     // after a change before the model is trained anew
constexpr double kIdleSeconds = 0.1;    // between two looks when nothing has changed

}  // namespace

Studio::Studio(StudioOptions options, std::function<void()> changed)
    : options_(std::move(options)),
      project_(options_.project),
      events_(std::move(changed)),
      schedule_(project_.read([](const Project& project) { return project.state().content_checksum(); })),
      features_(project_, options_.cache, options_.threads),
      trainer_(project_.read([](const Project& project) { return project.model_file(); }), options_.threads),
      analysis_(options_.threads),
      inbox_(options_.threads),
      thumbnails_(project_) {
  project_.read([&](const Project& project) { features_.follow(project.state()); });
  worker_.emplace("studio", [this] { work(); });
}

Studio::~Studio() { stop(); }

void Studio::stop() {
  schedule_.stop();
  worker_.reset();
}

// With the project locked: usable photos and schedule change together with it.
void Studio::follow_change(const ProjectState& state) {
  features_.follow(state);
  schedule_.note_change(state.content_checksum());
}

// The version is read first: what is read after it is at least as new.
StudioStatus Studio::status() const {
  EventHub::Snapshot current = events_.current();
  StudioStatus status;
  status.version = current.version;
  status.work = std::move(current.status);
  status.waiting = features_.waiting();
  status.waiting_inbox = features_.waiting_inbox();
  const UsablePhotos usable = features_.usable();
  if (usable.content.empty()) return status;
  const auto latest = model();
  status.model_current = latest && latest->content == usable.content;
  const auto found = findings();
  status.analysis_current = found && found->photos->content == usable.content;
  return status;
}

void Studio::request_analysis() {
  analysis_.request();
  schedule_.wake();
}

void Studio::request_next() {
  inbox_.request_next();
  schedule_.wake();
}

// The error goes first: one that the new attempt brings must stay.
void Studio::retry() {
  events_.clear_error();
  features_.retry();
  schedule_.clear_failure();
  events_.notify();
}

StudioPrediction Studio::predict(std::span<const std::byte> image) const {
  const auto latest = ready_model();
  const auto open = ready_encoder();
  const auto row = encode_image(image, "the photo", *open);
  return {latest, latest->predictor->predict({row.data(), 1, row.size()}).front()};
}

std::shared_ptr<const TrainedModel> Studio::ready_model() const {
  auto latest = model();
  if (!latest) fail(ErrorKind::kInput, "there is no model yet: it takes photos of two classes");
  return latest;
}

std::shared_ptr<const Encoder> Studio::ready_encoder() const {
  auto open = encoder();
  if (!open) fail(ErrorKind::kInput, "the backbone is not ready yet: try again in a moment");
  return open;
}

WebPageSize Studio::web_page_size() const {
  const auto latest = ready_model();
  const auto open = ready_encoder();
  const std::string name = read([](const Project& project) { return project.folder().filename().string(); });
  return WebPage(latest->model, *open, {.title = name}).size();
}

std::string Studio::export_as(ExportKind kind) {
  const auto latest = ready_model();
  const auto folder = read([](const Project& project) { return project.folder(); });
  const std::string name = folder.filename().string();
  switch (kind) {
    case ExportKind::kModel:
      return model_bytes(latest->model);
    case ExportKind::kCard:
      return model_card(latest->model, name);
    case ExportKind::kOnnx:
      return onnx_export(latest->model, *ready_encoder(), folder / "exports");
    case ExportKind::kWeb: {
      const auto open = ready_encoder();
      return web_export(WebPage(latest->model, *open, {.title = name}), name, folder / "exports");
    }
    case ExportKind::kReport:
      break;
  }
  const auto found = findings();
  if (!found) fail(ErrorKind::kInput, "the findings are not there yet: open them first");
  return report_export(*found, thumbnails_);
}

void Studio::work() {
  if (trainer_.load()) events_.publish({});
  while (!schedule_.stopping()) {
    const std::uint64_t wakes = schedule_.wakes();
    const std::string content = schedule_.content();
    const auto failed = [&](std::string reason) {
      schedule_.note_failure(content);
      WorkStatus status;
      status.error = std::move(reason);
      events_.publish(std::move(status));
    };
    bool worked = true;
    try {
      worked = work_once();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCancelled) failed(error.what());
    } catch (const std::exception& error) {
      failed(fmt::format("unexpected error: {}", error.what()));
    }
    if (worked) continue;
    if (events_.current().status.stage != Stage::kIdle) events_.publish({});
    const double left = kQuietSeconds - schedule_.seconds_since_change();
    schedule_.wait(wakes, left > 0.0 ? left : kIdleSeconds);
  }
}

// True when something was done, and there may be more.
bool Studio::work_once() {
  if (schedule_.failed()) return false;
  if (!features_.encoder()) {
    const auto photos = [](const Project& project) {
      return project.state().photo_count() + project.state().inbox().size();
    };
    if (read(photos) == 0) return false;
    WorkStatus status;
    status.stage = Stage::kBackbone;
    status.detail = read([](const Project& project) { return project.backbone(); });
    events_.publish(std::move(status));
    features_.open(progress_of(Stage::kBackbone, {}));
    return true;
  }
  if (features_.waiting() > 0) {
    look_at_photos();
    return true;
  }
  const UsablePhotos usable = features_.usable();
  const double quiet = schedule_.seconds_since_change();
  const auto latest = model();
  if (quiet >= kQuietSeconds && usable.classes >= 2 && (!latest || latest->content != usable.content)) {
    train(usable);
    return true;
  }
  // The photos of classes come first: what is learnt from them helps with the others.
  if (features_.waiting_inbox() > 0) {
    look_at_photos();
    return true;
  }
  if (quiet < kQuietSeconds) return false;
  const auto suggesting = suggesting_model();
  if (inbox_.due(usable.inbox, suggesting ? suggesting->number : 0)) {
    sort_inbox();
    return true;
  }
  if (usable.classes < 2) return false;
  if (analysis_.due(usable.content)) {
    analyse();
    return true;
  }
  // Also after a model has come: whoever waits for its prediction has the processors first.
  if (!latest->incremental || quiet < kFitSeconds || trainer_.seconds_since_model() < kFitSeconds / 2) return false;
  fit();
  return true;
}

void Studio::look_at_photos() {
  const QueueProgress progress = features_.encode_block();
  WorkStatus status{Stage::kFeatures, progress.done, progress.total};
  if (progress.done == progress.total) {
    events_.publish(std::move(status));
  } else {
    events_.publish_progress(std::move(status));
  }
}

std::shared_ptr<const TrainedModel> Studio::suggesting_model() const {
  return features_.usable().classes >= 2 ? model() : nullptr;
}

void Studio::sort_inbox() {
  events_.publish({Stage::kGroups});
  const InboxSnapshot snapshot = features_.inbox_snapshot();
  const std::string content = features_.usable().content;
  const auto progress = [&](const Progress& step) {
    if (schedule_.stopping()) return false;
    const UsablePhotos usable = features_.usable();
    if (usable.inbox != snapshot.content || usable.content != content) return false;
    events_.publish_progress({Stage::kGroups, step.done, step.total, step.stage});
    return true;
  };
  inbox_.run(
      snapshot, suggesting_model(), [&] { return std::move(features_.snapshot().data.rows); }, progress);
  events_.publish({});
}

// Makes the model current by the quickest way.
void Studio::train(const UsablePhotos& usable) {
  if (trainer_.restore_fit(usable.content)) {
    events_.publish({});
    return;
  }
  if (trainer_.can_update()) {
    events_.publish({Stage::kUpdate});
    if (trainer_.update(features_.snapshot())) {
      events_.publish({});
      return;
    }
  }
  fit();
}

void Studio::fit() {
  events_.publish({Stage::kFit});
  TrainingSnapshot snapshot = features_.snapshot();
  const auto progress = progress_of(Stage::kFit, snapshot.content);
  trainer_.fit(std::move(snapshot), progress);
  events_.publish({});
}

void Studio::analyse() {
  events_.publish({Stage::kAnalysis});
  TrainingSnapshot snapshot = features_.snapshot();
  const auto progress = progress_of(Stage::kAnalysis, snapshot.content);
  analysis_.run(
      std::move(snapshot), [&] { events_.publish({Stage::kAnalysis}); }, progress);
  events_.publish({});
}

ProgressCallback Studio::progress_of(Stage stage, std::string content) {
  return [this, stage, content = std::move(content)](const Progress& progress) {
    if (schedule_.stopping()) return false;
    const std::string usable = features_.usable().content;
    if (!content.empty() && content != usable) return false;
    // Whoever looks at findings does not wait for a fit that only improves a model.
    if (stage == Stage::kFit) {
      const auto latest = model();
      if (latest && latest->content == usable && analysis_.due(usable)) return false;
    }
    events_.publish_progress({stage, progress.done, progress.total, progress.stage});
    return true;
  };
}

}  // namespace annulus::studio
