// Recipes by name, and the fits that follow them.
#include "annulus/learn/method/recipe.h"

#include <algorithm>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/first_head.h"
#include "annulus/learn/method/training_accuracy.h"

namespace annulus {
namespace {

// Every training of a fit has random numbers of its own; probes take theirs from kFirstProbe on.
constexpr std::uint32_t kPretrainRun = 1;
constexpr std::uint32_t kFinalRun = 2;
constexpr std::uint32_t kBaselineRun = 3;
constexpr std::uint32_t kFirstProbeRun = 16;

Recipe paper_recipe() {
  Recipe recipe;
  recipe.name = "paper";
  recipe.calibrate = false;
  recipe.search.pretrain.run = kPretrainRun;
  recipe.search.probe.epochs = 20;
  recipe.search.probe.run = kFirstProbeRun;
  recipe.final_training.run = kFinalRun;
  recipe.baseline.learning_rate = 0.005;
  recipe.baseline.run = kBaselineRun;
  return recipe;
}

Recipe paper_resnet50_recipe() {
  Recipe recipe = paper_recipe();
  recipe.name = "paper-resnet50";
  set_batch(recipe, 512);
  recipe.search.pretrain.epochs = 60;
  set_epochs(recipe, 60);
  return recipe;
}

Recipe paper_episodes_recipe() {
  Recipe recipe = paper_recipe();
  recipe.name = "paper-episodes";
  recipe.search.threshold = 0.999;
  recipe.search.probe.epochs = 50;
  set_epochs(recipe, 200);
  return recipe;
}

Recipe ibm2_recipe() {
  Recipe recipe = paper_recipe();
  recipe.name = "ibm2";
  recipe.calibrate = true;
  set_noise_sharing(recipe, NoiseSharing::kGrouped);
  set_virtual_count(recipe, 32);
  set_learning_rate(recipe, 0.05);
  // At the paper's 1.0 probes by chance fail and pass at nearly the same radius.
  recipe.search.pretrain.learning_rate = 0.3;
  recipe.search.probe.learning_rate = 0.3;
  recipe.search.expand = true;
  recipe.search.verify_upper = true;
  recipe.search.interpolate = true;
  recipe.search.warm_start = true;
  recipe.search.stop_early = true;
  recipe.search.least_steps = 100;
  recipe.most_final_steps = 3000;
  return recipe;
}

Recipe default_recipe() {
  Recipe recipe = ibm2_recipe();
  recipe.name = "default";
  recipe.transform = TransformKind::kAuto;
  // From the prototypes a head needs far fewer steps than from random numbers.
  recipe.search.pretrain.from_prototypes = true;
  recipe.search.probe.from_prototypes = true;
  recipe.search.probe.learning_rate = 0.15;
  recipe.search.probe.epochs = 3;
  recipe.search.least_steps = 20;
  recipe.final_training.from_prototypes = true;
  recipe.final_training.epochs = 10;
  recipe.least_final_steps = 60;
  recipe.least_steps_without_metric = 240;
  recipe.metric.within_classes = true;
  recipe.metric_ensemble.prototype_weight = 1.0;
  recipe.ensemble.ridge_weight = 0.7;
  return recipe;
}

Recipe baseline_recipe() {
  Recipe recipe = default_recipe();
  recipe.name = "baseline";
  recipe.virtual_examples = false;
  recipe.metric = {};
  recipe.ensemble = {};
  recipe.metric_ensemble = {};
  return recipe;
}

// The paper's episodes with half the virtual examples, noise rows shared in pairs of opposite sign, the same for every
// probe, and a shorter search: what thousands of episodes are run by.
Recipe episodes_recipe() {
  Recipe recipe = paper_episodes_recipe();
  recipe.name = "episodes";
  recipe.calibrate = true;
  set_noise_sharing(recipe, NoiseSharing::kShared);
  set_virtual_count(recipe, 100);
  recipe.search.probe.antithetic = true;
  recipe.final_training.antithetic = true;
  recipe.search.common_noise = true;
  recipe.search.interpolate = true;
  recipe.search.stop_early = true;
  return recipe;
}

struct NamedRecipe {
  const char* name;
  Recipe (*make)();
};
constexpr NamedRecipe kRecipes[] = {{"default", default_recipe},
                                    {"ibm2", ibm2_recipe},
                                    {"paper", paper_recipe},
                                    {"paper-resnet50", paper_resnet50_recipe},
                                    {"paper-episodes", paper_episodes_recipe},
                                    {"episodes", episodes_recipe},
                                    {"baseline", baseline_recipe}};

template <class Change>
void change_all(Recipe& recipe, const Change& change) {
  for (TrainOptions* options :
       {&recipe.search.pretrain, &recipe.search.probe, &recipe.final_training, &recipe.baseline}) {
    change(*options);
  }
}

ProgressCallback renamed(const ProgressCallback& progress, const char* stage) {
  if (!progress) return {};
  return [&progress, stage](const Progress& inner) { return progress({stage, inner.done, inner.total, inner.detail}); };
}

// Trains a fresh head as `options` say and fills in everything but the search.
FitResult train_head(const TrainingExamples<float>& rows, HeadKind kind, const TrainOptions& options,
                     const EnsembleHeads& ensemble, const MetricSpace& space, const ProgressCallback& progress,
                     const char* stage) {
  FitResult result;
  result.ensemble = ensemble;
  result.epochs = options.epochs;
  result.epsilon = options.epsilon;
  result.head = first_head(rows, kind, options);
  train(result.head, rows, options, renamed(progress, stage));
  if (ensemble.any() || space.any()) {
    result.trained = std::move(result.head);
    result.head = with_ensemble_heads(*result.trained, rows, ensemble, options.threads, options.layout);
    result.trained->transform = space.transform;
  }
  TrainOptions examples = options;
  examples.epsilon = 0.0;
  result.training_accuracy = training_accuracy(result.head, rows, examples, progress);
  result.virtual_accuracy =
      options.epsilon > 0.0 ? training_accuracy(result.head, rows, options, progress) : result.training_accuracy;
  if (space.any()) {
    result.head = leave_metric_space(result.head, space.transform, space.mean_inverse_length, options.threads);
  }
  return result;
}

// The epochs of the final training, within the limits on its steps.
std::size_t final_epochs(const Recipe& recipe, std::size_t examples, bool has_metric) {
  const std::size_t steps = steps_an_epoch(examples, recipe.final_training);
  const std::size_t least = has_metric ? recipe.least_final_steps : recipe.least_steps_without_metric;
  std::size_t epochs = std::max(recipe.final_training.epochs, (least + steps - 1) / steps);
  if (recipe.most_final_steps > 0) epochs = std::min(epochs, (recipe.most_final_steps + steps - 1) / steps);
  return epochs;
}

// The method of the paper: the search for the radius, then a new head that is trained at it.
FitResult fit_to_virtual_examples(const TrainingExamples<float>& rows, const Recipe& recipe, const MetricSpace& space,
                                  const ProgressCallback& progress) {
  const auto start = now();
  std::optional<SearchResult> search;
  if (!recipe.epsilon) search = search_radius(rows, recipe.head, recipe.search, progress);
  TrainOptions options = recipe.final_training;
  options.epsilon = recipe.epsilon ? *recipe.epsilon : search->epsilon;
  options.epochs = final_epochs(recipe, rows.rows(), space.any());
  const EnsembleHeads& ensemble = space.any() ? recipe.metric_ensemble : recipe.ensemble;
  FitResult result = train_head(rows, recipe.head, options, ensemble, space, progress, "train the head");
  result.search = std::move(search);
  result.seconds = seconds_since(start);
  return result;
}

// The baseline of the paper: the same head, trained on the training examples themselves.
FitResult fit_to_examples(const TrainingExamples<float>& rows, const Recipe& recipe, const ProgressCallback& progress) {
  const auto start = now();
  TrainOptions options = recipe.baseline;
  options.epsilon = 0.0;
  FitResult result = train_head(rows, recipe.head, options, {}, {}, progress, "train the baseline");
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace

Recipe recipe_named(std::string_view name) {
  for (const NamedRecipe& recipe : kRecipes) {
    if (name == recipe.name) return recipe.make();
  }
  fail(ErrorKind::kUsage, "expected a recipe of {}, found \"{}\"", fmt::join(recipe_names(), ", "), name);
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const NamedRecipe& recipe : kRecipes) names.emplace_back(recipe.name);
  return names;
}

void set_virtual_count(Recipe& recipe, std::size_t virtual_count) {
  change_all(recipe, [&](TrainOptions& options) { options.virtual_count = virtual_count; });
}

void set_learning_rate(Recipe& recipe, double learning_rate) {
  recipe.final_training.learning_rate = learning_rate;
  recipe.baseline.learning_rate = learning_rate;
}

void set_epochs(Recipe& recipe, std::size_t epochs) {
  recipe.least_final_steps = 0;
  recipe.least_steps_without_metric = 0;
  recipe.most_final_steps = 0;
  recipe.final_training.epochs = epochs;
  recipe.baseline.epochs = epochs;
}

void set_batch(Recipe& recipe, std::size_t batch) {
  change_all(recipe, [&](TrainOptions& options) { options.batch = batch; });
}

void set_label_smoothing(Recipe& recipe, double fraction) {
  change_all(recipe, [&](TrainOptions& options) { options.label_smoothing = fraction; });
}

void set_noise_sharing(Recipe& recipe, NoiseSharing sharing) {
  change_all(recipe, [&](TrainOptions& options) { options.sharing = sharing; });
}

void set_seed(Recipe& recipe, std::uint64_t seed) {
  change_all(recipe, [&](TrainOptions& options) { options.seed = seed; });
}

void set_task(Recipe& recipe, std::uint32_t task) {
  change_all(recipe, [&](TrainOptions& options) { options.task = task; });
}

void set_noise_bank(Recipe& recipe, NoiseBank* bank) {
  change_all(recipe, [&](TrainOptions& options) { options.bank = bank; });
}

void set_threads(Recipe& recipe, int threads) {
  change_all(recipe, [&](TrainOptions& options) { options.threads = threads; });
}

void set_layout(Recipe& recipe, const ParallelLayout* layout) {
  change_all(recipe, [&](TrainOptions& options) { options.layout = layout; });
}

void set_checkpoint(Recipe& recipe, FitCheckpoint* checkpoint) {
  change_all(recipe, [&](TrainOptions& options) { options.checkpoint = checkpoint; });
}

std::map<std::string, std::string> describe(const Recipe& recipe) {
  const TrainOptions& last = recipe.final_training;
  std::map<std::string, std::string> record{
      {"recipe", recipe.name},
      {"virtual_examples", recipe.virtual_examples ? "true" : "false"},
      {"head", std::string(to_string(recipe.head))},
      {"transform", std::string(to_string(recipe.transform))},
      {"noise_shape", std::string(to_string(recipe.noise_shape))},
      {"noise", std::string(to_string(last.sharing))},
      {"antithetic", last.antithetic ? "true" : "false"},
      {"virtual", fmt::format("{}", last.virtual_count)},
      {"learning_rate", fmt::format("{}", last.learning_rate)},
      {"baseline_learning_rate", fmt::format("{}", recipe.baseline.learning_rate)},
      {"epochs", fmt::format("{}", last.epochs)},
      {"least_final_steps", fmt::format("{}", recipe.least_final_steps)},
      {"least_steps_without_metric", fmt::format("{}", recipe.least_steps_without_metric)},
      {"most_final_steps", fmt::format("{}", recipe.most_final_steps)},
      {"start", recipe.final_training.from_prototypes ? "prototypes" : "random"},
      {"batch", fmt::format("{}", last.batch)},
      {"label_smoothing", fmt::format("{}", last.label_smoothing)},
      {"seed", fmt::format("{}", last.seed)},
  };
  if (recipe.virtual_examples && recipe.metric.any()) {
    record["metric"] = recipe.metric.prior == nullptr ? "data"
                       : recipe.metric.within_classes ? "data, backbone"
                                                      : "backbone";
    record["metric_ensemble_prototype_weight"] = fmt::format("{}", recipe.metric_ensemble.prototype_weight);
    if (recipe.metric.prior != nullptr) record["metric_prior"] = recipe.metric.prior->checksum;
    if (recipe.metric.strength) record["metric_strength"] = fmt::format("{}", *recipe.metric.strength);
  }
  if (const auto& metric = recipe.metric_of_default) {
    record["metric_of_default"] = metric->prior != nullptr ? metric->prior->checksum : metric->any() ? "data" : "none";
  }
  if (recipe.virtual_examples && recipe.ensemble.any()) {
    record["ensemble_ridge_weight"] = fmt::format("{}", recipe.ensemble.ridge_weight);
    record["ensemble_ridge_penalty"] = fmt::format("{}", recipe.ensemble.ridge_penalty);
    record["ensemble_prototype_shots"] = fmt::format("{}", recipe.ensemble.prototype_shots);
  }
  if (recipe.svm_cost) record["svm_cost"] = fmt::format("{}", *recipe.svm_cost);
  if (recipe.epsilon) {
    record["epsilon_given"] = fmt::format("{}", *recipe.epsilon);
    return record;
  }
  const SearchOptions& search = recipe.search;
  record["threshold"] = fmt::format("{}", search.threshold);
  record["search_range"] = fmt::format("{},{}", search.lowest, search.highest);
  record["search_tolerance"] = fmt::format("{}", search.tolerance);
  record["search_epochs"] = fmt::format("{}", search.probe.epochs);
  record["search_least_steps"] = fmt::format("{}", search.least_steps);
  record["search_learning_rate"] = fmt::format("{}", search.probe.learning_rate);
  record["search_expand"] = search.expand ? "true" : "false";
  record["search_verify_upper"] = search.verify_upper ? "true" : "false";
  record["search_interpolate"] = search.interpolate ? "true" : "false";
  record["search_warm_start"] = search.warm_start ? "true" : "false";
  record["search_common_noise"] = search.common_noise ? "true" : "false";
  record["search_stop_early"] = search.stop_early ? "true" : "false";
  return record;
}

FitResult fit_head(LabelledExamples&& rows, const Recipe& recipe, const ProgressCallback& progress) {
  const Slice own = rows.partition.own(rows.labels.size());
  const auto weights = rows.weights.empty() ? std::span<const float>{}
                                            : std::span<const float>(rows.weights).subspan(own.first, own.count);
  FeatureTransform transform = learn_transform(rows.features.view(), recipe.transform, weights, rows.partition);
  // A metric centres rows itself.
  if (transform.centre.empty() && transform.any()) transform_rows(transform, rows.features.view());
  const MetricOptions metric = recipe.virtual_examples ? recipe.metric : MetricOptions{};
  MetricSpace space = enter_metric_space(rows, transform, metric, recipe.final_training.threads);
  if (!space.any() && !transform.centre.empty()) transform_rows(transform, rows.features.view());
  const TrainingExamples<float> examples =
      make_training_examples<float>(std::move(rows.features), std::move(rows.labels), rows.classes, recipe.noise_shape,
                                    rows.weights, std::move(rows.partition));
  FitResult result = recipe.virtual_examples ? fit_to_virtual_examples(examples, recipe, space, progress)
                                             : fit_to_examples(examples, recipe, progress);
  if (!space.any()) {
    if (result.trained) result.trained->transform = transform;
    result.head.transform = std::move(transform);
  }
  result.metric_prior = space.prior;
  result.metric = std::move(space.within_classes);
  return result;
}

FitResult fit_head(const LabelledExamples& rows, const Recipe& recipe, const ProgressCallback& progress) {
  return fit_head(LabelledExamples{rows.features.clone(), rows.labels, rows.classes, rows.weights, rows.partition},
                  recipe, progress);
}

}  // namespace annulus
