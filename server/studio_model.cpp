// How the studio's model comes about: small changes are followed at once, everything is learnt anew when it is quiet.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/eval/label_audit.h"
#include "annulus/eval/unit_rows.h"
#include "annulus/learn/fit_model.h"
#include "annulus/learn/follow_rows.h"
#include "annulus/store/extract.h"
#include "annulus/store/model_file.h"
#include "server/studio.h"

namespace annulus::server {
namespace {

constexpr std::size_t kFollowedShare = 5;  // a change of more than one row in so many is learnt by a fit
constexpr std::size_t kMostPairs = 200;
constexpr std::size_t kPairPhotos = 4;
constexpr const char* kContent = "project_content";

// Of a photo whose file this is: what stands before the ending of its name.
std::string id_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

void prepare(StudioModel& model) {
  RecogniserOptions options;
  options.explain = true;
  model.recogniser = std::make_unique<Recogniser>(model.model, options);
}

}  // namespace

// The rows to learn from at one moment.
struct Studio::Snapshot {
  std::string content;
  std::vector<std::string> photos;
  TrainingData data;  // paths are under the project's folder
};

// Without the lock while features are read.
Studio::Snapshot Studio::snapshot(std::unique_lock<std::mutex>& lock) const {
  if (used_.empty()) fail(ErrorKind::kCancelled, "photos came that have no features yet");
  Snapshot now_there;
  TrainingData& data = now_there.data;
  const ProjectState& state = project_.state();
  now_there.content = used_;
  std::vector<std::uint64_t> positions;
  for (const auto& [name, entry] : state.classes()) {
    const std::size_t before = positions.size();
    for (const std::string& id : entry.photos) {
      const auto found = positions_.find(id);
      if (found == positions_.end()) continue;
      positions.push_back(found->second);
      now_there.photos.push_back(id);
      data.paths.push_back(Project::name_of(state.photo(id)));
      data.rows.labels.push_back(static_cast<std::int32_t>(data.class_names.size()));
    }
    if (positions.size() > before) data.class_names.push_back(name);
  }
  data.rows.classes = data.class_names.size();
  data.provenance = feature_provenance(encoder_->backbone, encoder_->recipe, encoder_->name);
  data.provenance["source"] = project_.folder().filename().string();
  data.provenance[kContent] = now_there.content;
  // Both are the worker's, which is who calls.
  const std::size_t dimension = encoder_->backbone.dimension();
  const FeatureCache& cache = *cache_;
  lock.unlock();
  data.rows.features = Matrix<float>(positions.size(), dimension);
  constexpr std::size_t kTogether = 256;
  parallel_for(options_.threads, (positions.size() + kTogether - 1) / kTogether, [&](std::size_t task) {
    for (std::size_t i = task * kTogether; i < std::min((task + 1) * kTogether, positions.size()); ++i) {
      if (cache.read(positions[i], data.rows.features.row(i))) continue;
      fail(ErrorKind::kIo, "the cached features of {} were damaged while they were in use; start the studio again",
           data.paths[i]);
    }
  });
  lock.lock();
  return now_there;
}

void Studio::publish(std::unique_lock<std::mutex>& lock, std::shared_ptr<StudioModel> model) {
  model->number = ++models_;
  model_ = std::move(model);
  last_model_ = now();
  if (model_->thorough) thorough_ = model_;
  tell(lock, {});
}

// Classes of the model whose photos are all in one class that the model does not know: that is their new name.
std::map<std::string, std::string> Studio::renamed_classes(const Model& model) const {
  static const std::string kNowhere = "/";
  const ProjectState& state = project_.state();
  std::map<std::string, std::string> renamed;
  std::vector<std::string> now_in(model.class_names.size());  // "/": in several, or in none
  for (std::size_t i = 0; i < model.support.paths.size(); ++i) {
    const auto photo = state.photos().find(id_of(model.support.paths[i]));
    const std::string& name = photo == state.photos().end() ? kNowhere : photo->second.class_name;
    std::string& found = now_in[static_cast<std::size_t>(model.support.labels[i])];
    if (found != name) found = found.empty() ? name : kNowhere;
  }
  for (std::size_t c = 0; c < now_in.size(); ++c) {
    const std::string& from = model.class_names[c];
    if (now_in[c].empty() || now_in[c] == kNowhere || now_in[c] == from || state.classes().contains(from)) continue;
    renamed.emplace(from, now_in[c]);
  }
  // A name that the model has is another class.
  for (const std::string& name : model.class_names) {
    std::erase_if(renamed, [&](const auto& pair) { return pair.second == name; });
  }
  return renamed;
}

// False when there is no model to start from, or too much has changed.
bool Studio::follow_once(std::unique_lock<std::mutex>& lock) {
  const auto from = model_;
  if (!from || from->model.support.paths.empty()) return false;
  FollowOptions options;
  options.threads = options_.threads;
  options.renamed = renamed_classes(from->model);
  StudioStatus status;
  status.stage = "follow";
  tell(lock, status);
  Snapshot there = snapshot(lock);
  const std::string content = there.content;
  options.most = std::max<std::size_t>(1, there.photos.size() / kFollowedShare);
  lock.unlock();
  const auto start = now();
  auto followed = std::make_shared<StudioModel>();
  bool done = false;
  try {
    auto model = follow_rows(from->model, std::move(there.data), options);
    done = model.has_value();
    if (done) followed->model = std::move(*model);
  } catch (const Error& error) {
    // A model of an older version may not be fit to grow; learning anew says what is really wrong.
    if (error.kind() != ErrorKind::kInput) throw;
  }
  if (done) {
    followed->content = content;
    followed->held_out = from->held_out;
    followed->held_out_right = from->held_out_right;
    prepare(*followed);
    followed->seconds = seconds_since(start);
  }
  lock.lock();
  if (done) publish(lock, std::move(followed));
  return done;
}

void Studio::fit_once(std::unique_lock<std::mutex>& lock) {
  StudioStatus status;
  status.stage = kFit;
  tell(lock, status);
  Snapshot there = snapshot(lock);
  const std::string content = there.content;
  // While there is a model of these photos, one processor is left to the page.
  const bool behind = model_ && model_->content == content;
  const int all = options_.threads > 0 ? options_.threads : hardware_threads();
  lock.unlock();
  auto learnt = learn(std::move(there), behind ? std::max(1, all - 1) : all, telling(kFit, content));
  write_model(learnt->model, project_.model_file());
  lock.lock();
  publish(lock, std::move(learnt));
}

std::shared_ptr<StudioModel> Studio::learn(Snapshot there, int threads, const ProgressCallback& progress) const {
  const auto start = now();
  auto learnt = std::make_shared<StudioModel>();
  learnt->content = there.content;
  learnt->thorough = true;
  Recipe recipe = recipe_named("default");
  set_threads(recipe, threads);
  ModelFit fit = fit_model(std::move(there.data), recipe, {}, progress);
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
  prepare(*learnt);
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
    loaded->thorough = true;
    const auto number = [&](const char* name) {
      const auto found = loaded->model.training.find(name);
      return found == loaded->model.training.end() ? 0U : std::stoul(found->second);
    };
    loaded->held_out = number("held_out");
    loaded->held_out_right = number("held_out_right");
    prepare(*loaded);
    return loaded;
  } catch (const std::exception&) {
    return nullptr;  // it is learnt anew
  }
}

void Studio::analyse_once(std::unique_lock<std::mutex>& lock) {
  StudioStatus status;
  status.stage = "analysis";
  tell(lock, status);
  Snapshot there = snapshot(lock);
  const std::string content = there.content;
  lock.unlock();
  const Matrix<float> rows = unit_rows<float>(there.data.rows.features.view());
  auto map = draw_map(there, rows);
  lock.lock();
  map_ = std::move(map);
  tell(lock, status);
  lock.unlock();
  auto analysed = analyse(std::move(there), rows, telling("analysis", content));
  lock.lock();
  analysed->number = analysis_ ? analysis_->number + 1 : 1;
  analysis_ = std::move(analysed);
  tell(lock, {});
}

std::shared_ptr<const StudioMap> Studio::draw_map(const Snapshot& there, const Matrix<float>& rows) const {
  auto result = std::make_shared<StudioMap>();
  const LabelledRows& data = there.data.rows;
  result->content = there.content;
  result->class_names = there.data.class_names;
  result->photos = there.photos;
  result->labels = data.labels;
  result->class_rows = class_counts(data.labels, data.classes);
  result->map = class_map(rows.view(), data.labels, data.classes);
  result->number = map_ ? map_->number + 1 : 1;
  return result;
}

std::shared_ptr<StudioAnalysis> Studio::analyse(Snapshot there, const Matrix<float>& rows,
                                                const ProgressCallback& progress) const {
  auto result = std::make_shared<StudioAnalysis>();
  LabelledRows& data = there.data.rows;
  result->rows = map_;
  const LabelScores scores = score_labels(rows.view(), data.labels, data.classes, options_.threads);
  result->confused = confused_pairs(data.labels, scores, kMostPairs, kPairPhotos);
  FeatureSetParts parts = parts_of(std::move(data.features));
  parts.labels = data.labels;
  parts.class_names = there.data.class_names;
  parts.paths = there.data.paths;
  parts.source = "the project";
  AuditOptions options;
  options.threads = options_.threads;
  result->audit = audit(FeatureSet(std::move(parts)), options, progress);
  return result;
}

}  // namespace annulus::server
