// The studio's background work, in this order: the backbone, features of new photos, the fit, the analysis.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/parallel.h"
#include "annulus/eval/label_audit.h"
#include "annulus/eval/unit_rows.h"
#include "annulus/learn/fit_model.h"
#include "annulus/store/extract.h"
#include "annulus/store/image_file.h"
#include "annulus/store/model_file.h"
#include "annulus/vision/preprocess.h"
#include "server/studio.h"

namespace annulus::server {
namespace {

constexpr double kQuietSeconds = 0.25;  // after a change before a fit begins: a burst of changes is one
constexpr double kTellSeconds = 0.1;    // between two notices of progress
constexpr std::size_t kBlock = 8;       // photos that are encoded between two looks at what has changed
constexpr std::size_t kMostPairs = 200;
constexpr std::size_t kPairPhotos = 4;
constexpr const char* kContent = "project_content";

Digest digest_of(const std::string& hex) {
  Digest digest{};
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(value(hex[2 * i]) * 16 + value(hex[2 * i + 1]));
  }
  return digest;
}

}  // namespace

// The rows to learn from at one moment.
struct Studio::Snapshot {
  std::string content;
  std::vector<std::string> class_names;
  std::vector<std::string> photos;
  std::vector<std::string> paths;  // under the project's folder
  LabelledRows rows;
  std::map<std::string, std::string> provenance;
};

void Studio::work() {
  std::unique_lock lock(mutex_);
  model_ = load_model();
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
    wake_.wait_for(lock, std::chrono::milliseconds(100));
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
  if (!model_ || model_->content != content_) {
    fit_once(lock);
    return true;
  }
  if (analysis_wanted_ && (!analysis_ || analysis_->content != content_)) {
    analyse_once(lock);
    return true;
  }
  return false;
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
    if (stopping_ || (!content.empty() && content != content_)) return false;
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
      job.position = cache.append(digest_of(job.photo.sha256), row);
    } catch (const Error& error) {
      job.moved = error.kind() == ErrorKind::kIo;
      job.trouble = error.what();
    }
  });
  lock.lock();
  for (const Job& job : jobs) {
    if (job.trouble.empty()) {
      positions_.emplace(job.photo.id, job.position);
    } else if (job.moved && project_.path_of(project_.state().photo(job.photo.id)) != job.path) {
      waiting_.push_back(job.photo.id);
    } else {
      troubles_.emplace(job.photo.id, job.trouble);
    }
  }
  if (!waiting_.empty() && seconds_since(last_told_) < kTellSeconds) return;
  StudioStatus status;
  status.stage = "features";
  status.total = waiting_at_most_;
  status.done = status.total - std::min(status.total, waiting_.size());
  if (waiting_.empty()) waiting_at_most_ = 0;
  tell(lock, status);
}

Studio::Snapshot Studio::snapshot() const {
  Snapshot data;
  const ProjectState& state = project_.state();
  data.content = state.content_checksum();
  std::vector<std::uint64_t> positions;
  for (const auto& [name, entry] : state.classes()) {
    const std::size_t before = positions.size();
    for (const std::string& id : entry.photos) {
      const auto found = positions_.find(id);
      if (found == positions_.end()) continue;
      positions.push_back(found->second);
      data.photos.push_back(id);
      data.paths.push_back(std::filesystem::relative(project_.path_of(state.photo(id)), project_.folder()).string());
      data.rows.labels.push_back(static_cast<std::int32_t>(data.class_names.size()));
    }
    if (positions.size() > before) data.class_names.push_back(name);
  }
  data.rows.classes = data.class_names.size();
  data.rows.features = Matrix<float>(positions.size(), encoder_->backbone.dimension());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!cache_->read(positions[i], data.rows.features.row(i))) {
      fail(ErrorKind::kIo, "the cached features of {} were damaged while they were in use; start the studio again",
           data.paths[i]);
    }
  }
  data.provenance = feature_provenance(encoder_->backbone, encoder_->recipe, encoder_->name);
  data.provenance["source"] = project_.folder().filename().string();
  data.provenance[kContent] = data.content;
  return data;
}

void Studio::fit_once(std::unique_lock<std::mutex>& lock) {
  Snapshot data = snapshot();
  const std::string content = data.content;
  StudioStatus status;
  status.stage = "fit";
  tell(lock, status);
  lock.unlock();
  auto learnt = learn(std::move(data), telling("fit", content));
  write_model(learnt->model, project_.model_file());
  lock.lock();
  model_ = std::move(learnt);
  tell(lock, {});
}

std::shared_ptr<StudioModel> Studio::learn(Snapshot data, const ProgressCallback& progress) const {
  const auto start = now();
  auto learnt = std::make_shared<StudioModel>();
  learnt->content = data.content;
  Recipe recipe = recipe_named("default");
  set_threads(recipe, options_.threads);
  ModelFit fit = fit_model({std::move(data.rows), std::move(data.paths), std::move(data.class_names), data.provenance},
                           recipe, {}, progress);
  const auto& probabilities = fit.held_out.probabilities;
  for (std::size_t i = 0; i < fit.held_out.labels.size(); ++i) {
    const auto row = std::as_const(probabilities).row(i);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    if (best == fit.held_out.labels[i]) ++learnt->held_out_right;
  }
  learnt->held_out = fit.held_out.labels.size();
  learnt->model = std::move(fit.model);
  learnt->model.training["held_out"] = std::to_string(learnt->held_out);
  learnt->model.training["held_out_right"] = std::to_string(learnt->held_out_right);
  RecogniserOptions options;
  options.explain = true;
  learnt->recogniser = std::make_unique<Recogniser>(learnt->model, options);
  learnt->seconds = seconds_since(start);
  return learnt;
}

// The model of the last session, when it is one of this project.
std::shared_ptr<StudioModel> Studio::load_model() const {
  std::error_code ignored;
  if (!std::filesystem::exists(project_.model_file(), ignored)) return nullptr;
  try {
    auto loaded = std::make_shared<StudioModel>();
    loaded->model = read_model(project_.model_file());
    loaded->content = loaded->model.provenance[kContent];
    const auto number = [&](const char* name) {
      const auto found = loaded->model.training.find(name);
      return found == loaded->model.training.end() ? 0U : std::stoul(found->second);
    };
    loaded->held_out = number("held_out");
    loaded->held_out_right = number("held_out_right");
    RecogniserOptions options;
    options.explain = true;
    loaded->recogniser = std::make_unique<Recogniser>(loaded->model, options);
    return loaded;
  } catch (const std::exception&) {
    return nullptr;  // it is learnt anew
  }
}

void Studio::analyse_once(std::unique_lock<std::mutex>& lock) {
  const Snapshot data = snapshot();
  StudioStatus status;
  status.stage = "analysis";
  tell(lock, status);
  lock.unlock();
  auto analysed = analyse(data, telling("analysis", data.content));
  lock.lock();
  analysis_ = std::move(analysed);
  tell(lock, {});
}

std::shared_ptr<StudioAnalysis> Studio::analyse(const Snapshot& data, const ProgressCallback& progress) const {
  auto result = std::make_shared<StudioAnalysis>();
  result->content = data.content;
  result->class_names = data.class_names;
  result->photos = data.photos;
  result->class_rows = class_counts(data.rows.labels, data.rows.classes);
  const Matrix<float> rows = unit_rows<float>(data.rows.features.view());
  result->map = class_map(rows.view(), data.rows.labels, data.rows.classes);
  const LabelScores scores = score_labels(rows.view(), data.rows.labels, data.rows.classes, options_.threads);
  result->confused = confused_pairs(data.rows.labels, scores, kMostPairs, kPairPhotos);
  FeatureSetParts parts = parts_of(data.rows.features.clone());
  parts.labels = data.rows.labels;
  parts.class_names = data.class_names;
  parts.paths = data.paths;
  parts.source = "the project";
  AuditOptions options;
  options.threads = options_.threads;
  result->audit = audit(FeatureSet(std::move(parts)), options, progress);
  return result;
}

}  // namespace annulus::server
