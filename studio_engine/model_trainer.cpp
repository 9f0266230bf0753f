// Fits and updates of the studio's model, and its file.
#include "studio_engine/model_trainer.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/learn/model/fit_model.h"
#include "annulus/learn/update/example_update.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/store/models/model_file.h"

namespace annulus::studio {
namespace {

constexpr std::size_t kUpdatedFraction = 5;  // a change of more than one example in so many takes a fit

// The id of a photo is the name of its file without the extension.
std::string id_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

void prepare_predictor(TrainedModel& model) {
  PredictorOptions options;
  options.explain = true;
  model.predictor = std::make_unique<Predictor>(model.model, options);
}

// Classes of the model whose photos are now all in one class that the model does not have: that is their new name.
std::map<std::string, std::string> renamed_classes(const Model& model, const TrainingSnapshot& snapshot) {
  static const std::string kSeveral = "/";  // no name of a class
  std::unordered_map<std::string_view, std::size_t> labels;
  for (std::size_t i = 0; i < snapshot.photos.size(); ++i) {
    labels.emplace(snapshot.photos[i], static_cast<std::size_t>(snapshot.data.rows.labels[i]));
  }
  std::vector<std::string> now_in(model.class_names.size());  // kSeveral: in several classes, or in none
  for (std::size_t i = 0; i < model.support.paths.size(); ++i) {
    const auto photo = labels.find(id_of(model.support.paths[i]));
    const std::string& name = photo == labels.end() ? kSeveral : snapshot.data.class_names[photo->second];
    std::string& found = now_in[static_cast<std::size_t>(model.support.labels[i])];
    if (found != name) found = found.empty() ? name : kSeveral;
  }
  std::map<std::string, std::string> renamed;
  for (std::size_t c = 0; c < now_in.size(); ++c) {
    const std::string& from = model.class_names[c];
    if (now_in[c].empty() || now_in[c] == kSeveral || now_in[c] == from || snapshot.project_classes.contains(from)) {
      continue;
    }
    renamed.emplace(from, now_in[c]);
  }
  // A name that the model has is another class.
  for (const std::string& name : model.class_names) {
    std::erase_if(renamed, [&](const auto& pair) { return pair.second == name; });
  }
  return renamed;
}

std::shared_ptr<TrainedModel> fitted_model(TrainingSnapshot snapshot, int threads, const ProgressCallback& progress) {
  const auto start = now();
  auto fitted = std::make_shared<TrainedModel>();
  fitted->content = snapshot.content;
  Recipe recipe = recipe_named("default");
  set_threads(recipe, threads);
  add_metric_prior({}, snapshot.data.provenance, snapshot.data.rows.features.cols(), recipe);
  ModelFit fit = fit_model(std::move(snapshot.data), recipe, {}, progress);
  const auto& probabilities = fit.held_out.probabilities;
  for (std::size_t i = 0; i < fit.held_out.labels.size(); ++i) {
    const auto row = std::as_const(probabilities).row(i);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    if (best == fit.held_out.labels[i]) ++fitted->held_out_correct;
  }
  fitted->held_out = fit.held_out.labels.size();
  fitted->model = std::move(fit.model);
  prepare_predictor(*fitted);
  fitted->seconds = seconds_since(start);
  return fitted;
}

}  // namespace

ModelTrainer::ModelTrainer(std::filesystem::path model_file, int threads)
    : model_file_(std::move(model_file)), threads_(threads) {}

std::shared_ptr<const TrainedModel> ModelTrainer::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

double ModelTrainer::seconds_since_model() const {
  const std::lock_guard lock(mutex_);
  return seconds_since(published_);
}

void ModelTrainer::publish(std::shared_ptr<TrainedModel> model) {
  const std::lock_guard lock(mutex_);
  model->number = ++models_;
  model_ = std::move(model);
  published_ = now();
  if (!model_->incremental) fitted_ = model_;
}

bool ModelTrainer::load() {
  std::error_code ignored;
  if (!std::filesystem::exists(model_file_, ignored)) return false;
  try {
    auto loaded = std::make_shared<TrainedModel>();
    loaded->model = read_model(model_file_);
    loaded->content = loaded->model.provenance[kContentKey];
    const TrainingRecord::HeldOut& held_out = loaded->model.training.held_out;
    loaded->held_out = held_out.examples.value_or(0);
    loaded->held_out_correct =
        static_cast<std::size_t>(std::llround(held_out.accuracy.value_or(0.0) * static_cast<double>(loaded->held_out)));
    prepare_predictor(*loaded);
    publish(std::move(loaded));
    return true;
  } catch (const std::exception&) {
    return false;  // a damaged model, or one of another program: a fit replaces it
  }
}

bool ModelTrainer::restore_fit(const std::string& content) {
  const std::lock_guard lock(mutex_);
  if (!fitted_ || fitted_->content != content) return false;
  model_ = fitted_;
  return true;
}

bool ModelTrainer::can_update() const {
  const auto latest = model();
  return latest && !latest->model.support.paths.empty();
}

bool ModelTrainer::update(TrainingSnapshot snapshot) {
  if (!can_update()) return false;
  const auto from = model();
  const auto start = now();
  ExampleUpdateOptions options;
  options.threads = threads_;
  options.renamed = renamed_classes(from->model, snapshot);
  options.most = std::max<std::size_t>(1, snapshot.photos.size() / kUpdatedFraction);
  auto updated = std::make_shared<TrainedModel>();
  try {
    auto model = update_examples(from->model, std::move(snapshot.data), options);
    if (!model) return false;
    updated->model = std::move(*model);
  } catch (const Error& error) {
    // A model of an older version may not be fit for updates; the error of a fit says what is really wrong.
    if (error.kind() != ErrorKind::kInput) throw;
    return false;
  }
  updated->content = std::move(snapshot.content);
  updated->held_out = from->held_out;
  updated->held_out_correct = from->held_out_correct;
  updated->incremental = true;
  prepare_predictor(*updated);
  updated->seconds = seconds_since(start);
  publish(std::move(updated));
  return true;
}

void ModelTrainer::fit(TrainingSnapshot snapshot, const ProgressCallback& progress) {
  // While there is a model of these photos, one processor is left to the page.
  const auto latest = model();
  const bool improves = latest && latest->content == snapshot.content;
  const int all = threads_ > 0 ? threads_ : hardware_threads();
  auto fitted = fitted_model(std::move(snapshot), improves ? std::max(1, all - 1) : all, progress);
  write_model(fitted->model, model_file_);
  publish(std::move(fitted));
}

}  // namespace annulus::studio
