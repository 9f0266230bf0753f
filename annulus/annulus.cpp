// The facade: each function calls the parts of the library that the command line, the server and Python are built on.
#include "annulus/annulus.h"

#include <iterator>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/eval/score/score_set.h"
#include "annulus/learn/method/recipe_options.h"
#include "annulus/learn/model/consensus.h"
#include "annulus/learn/model/fit_model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/pipeline/load.h"
#include "annulus/pipeline/pool_set.h"
#include "annulus/pipeline/unlabelled.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/models/class_groups.h"
#include "annulus/store/models/model_file.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

LoadOptions load_options(const std::string& backbone, const ImageOptions& options) {
  LoadOptions loading;
  loading.list = options.list;
  loading.encoder = {backbone, options.preprocess, options.cache.string(), options.strict};
  if (!options.views.empty()) loading.encoder.views = views_from_text(options.views);
  loading.encoder.precision = options.precision;
  loading.threads = options.threads;
  loading.progress = options.progress;
  loading.note = options.note;
  loading.boxes = {options.boxes, options.box_confidence};
  loading.frames.every = options.every;
  loading.frames.scenes = options.scenes;
  loading.nested = options.nested;
  loading.encoder.srgb = options.srgb;
  loading.encoder.crop_margin = options.crop_margin;
  return loading;
}

PredictorOptions predictor_options(const PredictOptions& options) {
  if (options.top == 0) fail(ErrorKind::kUsage, "expected top to be 1 or more, found 0");
  return {options.false_reject, options.explain, options.top, options.threads, options.sure};
}

}  // namespace

std::string_view version() noexcept { return kVersion; }

FeatureSet load_features(const std::filesystem::path& path, const std::filesystem::path& labels) {
  return read_features(path, {labels});
}

FeatureSet load_images(const std::filesystem::path& folder, const std::string& backbone, const ImageOptions& options) {
  if (!holds_images(folder)) {
    fail(ErrorKind::kInput, "{}: expected a folder of images, found a file that is none", folder.string());
  }
  return load_set(folder, load_options(backbone, options));
}

FeatureSet load_input(const Model& model, const std::filesystem::path& path, const ImageOptions& options,
                      const std::string& backbone) {
  const std::string name = path.string();
  return load_prediction_set(std::span(&name, 1), model, "the model", load_options(backbone, options));
}

Model fit(const FeatureSet& set, const FitOptions& options) {
  RecipeOptions chosen;
  chosen.recipe = options.recipe;
  Recipe recipe = make_recipe(chosen, options.seed, options.threads);
  add_metric_prior({}, set.provenance(), set.dimension(), recipe);
  const Split split = draw_split(set, {options.shots, options.seed});
  TrainingData data = training_data(set, split.support);
  if (options.unlabelled != nullptr) {
    check_same_features(*options.unlabelled, set);
    add_pool_metric(*options.unlabelled, set, split.support, options.threads, recipe, data.provenance);
  }
  data.parents = class_groups(data.class_names, {options.hierarchy, options.parents});
  if (!options.data_licence.empty()) data.provenance["data_licence"] = options.data_licence;
  FitModelOptions fitting;
  fitting.calibrate = options.calibrate;
  fitting.strip = !options.keep_examples;
  fitting.seed = options.seed;
  fitting.shots = options.shots == 0 ? "all" : std::to_string(options.shots);
  return fit_model(std::move(data), recipe, fitting, options.progress).model;
}

void save(const Model& model, const std::filesystem::path& path) { write_model(model, path); }

Model load_model(const std::filesystem::path& path) { return read_model(path); }

std::vector<Prediction> predict(const Model& model, const FeatureSet& set, const PredictOptions& options) {
  check_features(set, model, "the model");
  std::vector<Prediction> all;
  all.reserve(set.rows());
  const auto keep = [&](std::size_t, std::span<Prediction> predictions) {
    all.insert(all.end(), std::make_move_iterator(predictions.begin()), std::make_move_iterator(predictions.end()));
  };
  predict_frames(model, predictor_options(options), options.consensus, set, keep, options.progress);
  return all;
}

std::vector<Prediction> predict(const Model& model, ConstMatrixView<float> rows, const PredictOptions& options) {
  report(options.progress, {"predict", 0, rows.rows(), {}});
  return Predictor(model, predictor_options(options)).predict(rows);
}

ScoreReport score(const Model& model, const FeatureSet& set, const ScoreOptions& options) {
  check_features(set, model, "the model");
  return score_set(model, set, {options.false_reject, options.threads}, options.progress);
}

}  // namespace annulus
