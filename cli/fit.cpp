// annulus fit: learns a model from labelled features.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "annulus/learn/model/fit_model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/pipeline/unlabelled.h"
#include "annulus/store/models/class_groups.h"
#include "annulus/store/models/model_file.h"
#include "annulus/store/models/shared_fit.h"
#include "annulus/task/few_shot_task.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/predict/prediction_format.h"
#include "cli/processes/communicator.h"
#include "cli/processes/launch.h"
#include "cli/recipe_options.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct FitOptions {
  DataOptions data;
  std::string output;
  std::string shots = "all";
  std::string unlabelled;  // folder of images or feature file without labels; empty: none
  ClassGroupOptions groups;
  std::string licence;  // of the training data, for the record
  std::string json;
  bool strip = false;
  bool calibrate = true;
  bool verbose = false;
  std::size_t class_ranks = 0;
  std::string checkpoint;
  double checkpoint_seconds = 30.0;
  RunOptions run;
  RecipeOptions recipe;
};

constexpr double kListedRates[] = {0.01, 0.02, 0.05, 0.1, 0.2};  // false-rejection rates in the JSON

// What is told of the data.
struct DataFacts {
  std::string backbone;           // which encoded them, and what a better one costs; empty: they are no photos
  std::size_t test_examples = 0;  // marked as such, so not learnt from
  std::optional<PoolUse> pool{};  // of unlabelled examples; absent: none was given
};

nlohmann::ordered_json fit_json(const FitOptions& options, const Recipe& recipe, const ModelFit& fitted,
                                const DataFacts& facts) {
  const Model& model = fitted.model;
  const FitResult& fit = fitted.fit;
  nlohmann::ordered_json json = {{"model", options.output},
                                 {"recipe", recipe.name},
                                 {"classes", model.head.classes()},
                                 {"examples", model.training.examples.value_or(0)},
                                 {"dimension", model.head.dimension()},
                                 {"epsilon", fit.epsilon},
                                 {"training_accuracy", 100.0 * fit.training_accuracy},
                                 {"virtual_accuracy", 100.0 * fit.virtual_accuracy},
                                 {"seconds", fit.seconds},
                                 {"options", describe(recipe)}};
  if (recipe.metric.prior != nullptr) json["metric_prior_used"] = fit.metric_prior;
  if (const auto& pool = facts.pool) {
    json["unlabelled"] = {{"examples", pool->examples},
                          {"looked_at", pool->looked_at},
                          {"copies", pool->copies},
                          {"used", pool->taken() && fit.metric_prior}};
  }
  if (const TrainingRecord::HeldOut& held_out = model.training.held_out; held_out.examples) {
    json["temperature"] = model.temperature;
    json["held_out"] = {{"examples", *held_out.examples},
                        {"accuracy", 100.0 * *held_out.accuracy},
                        {"ece", 100.0 * *held_out.calibration_error},
                        {"seconds", fitted.calibration_seconds}};
  }
  if (!model.unknown.caught.empty()) {
    json["catch_rates"] = nlohmann::ordered_json::array();
    for (const double rate : kListedRates) {
      json["catch_rates"].push_back(
          {{"false_reject", rate}, {"caught", 100.0 * *unknown_catch_rate(model.unknown, rate)}});
    }
  }
  if (!fit.search) return json;
  json["target"] = 100.0 * fit.search->target;
  json["upper_accuracy"] = 100.0 * fit.search->upper_accuracy;
  json["search_seconds"] = fit.search->seconds;
  json["probes"] = nlohmann::ordered_json::array();
  for (const Probe& probe : fit.search->probes) {
    json["probes"].push_back({{"epsilon", probe.epsilon},
                              {"accuracy", 100.0 * probe.accuracy},
                              {"passed", probe.passed},
                              {"low", probe.low},
                              {"high", probe.high},
                              {"seconds", probe.seconds}});
  }
  return json;
}

// What the training found, for those who know the method.
void print_details(const Recipe& recipe, const ModelFit& fitted) {
  const Model& model = fitted.model;
  const FitResult& fit = fitted.fit;
  if (fit.search) {
    fmt::print("epsilon {:.3f} (T {:.1f} %, {} probes)\n", fit.epsilon, 100.0 * fit.search->target,
               fit.search->probes.size());
  } else if (recipe.virtual_examples) {
    fmt::print("epsilon {:.3f} (given)\n", fit.epsilon);
  }
  if (fit.metric.examples > 0) {
    fmt::print("metric of {} examples, shrunk by {:.1f} %\n", fit.metric.examples, 100.0 * fit.metric.shrinkage);
  }
  fmt::print("training accuracy {:.2f} %", 100.0 * fit.training_accuracy);
  if (fit.epsilon > 0.0) fmt::print(", {:.2f} % on virtual examples", 100.0 * fit.virtual_accuracy);
  fmt::print("\n");
  if (const TrainingRecord::HeldOut& held_out = model.training.held_out; held_out.examples) {
    fmt::print("temperature {:.3f}: {} examples held out, {:.2f} % correct, calibration error {:.2f} % ({:.2f} s)\n",
               model.temperature, *held_out.examples, 100.0 * *held_out.accuracy, 100.0 * *held_out.calibration_error,
               fitted.calibration_seconds);
  }
}

// Of 100 predictions, those that guessing gets right.
std::string chance_text(std::size_t classes) {
  const double right = 100.0 / static_cast<double>(classes);
  return right < 1.0 ? fmt::format("{:.2g}", right) : fmt::format("{:.0f}", right);
}

void print_summary(const FitOptions& options, const Recipe& recipe, const ModelFit& fitted, const DataFacts& facts) {
  const Model& model = fitted.model;
  if (const TrainingRecord::HeldOut& held_out = model.training.held_out; held_out.examples) {
    fmt::print(
        "about {:.0f} of 100 new examples of these classes right, as of {} that were held out in turn (by chance {})\n",
        100.0 * *held_out.accuracy, *held_out.examples, chance_text(model.head.classes()));
  }
  fmt::print("learnt {} classes from {} examples of {} dimensions in {:.2f} s{}\n", model.head.classes(),
             model.training.examples.value_or(0), model.head.dimension(),
             fitted.fit.seconds + fitted.calibration_seconds,
             facts.test_examples > 0 ? fmt::format("; {} test examples were left out", facts.test_examples) : "");
  if (const auto caught = unknown_catch_rate(model.unknown, kFalseReject)) {
    fmt::print("{}\n", rejection_text(kFalseReject, *caught));
  }
  const auto& pool = facts.pool;
  if (pool) fmt::print("{}\n", pool_text(*pool, fitted.fit.metric_prior));
  if (const auto& prior = recipe.metric.prior; prior != nullptr && !(pool && pool->taken())) {
    constexpr std::size_t kShownDigits = 12;
    fmt::print("metric of the backbone ({}) {}\n", prior->checksum.substr(0, kShownDigits),
               fitted.fit.metric_prior ? "used" : "not used: it does not suit the training examples");
  }
  if (!facts.backbone.empty()) fmt::print("{}\n", facts.backbone);
  if (options.verbose) print_details(recipe, fitted);
  fmt::print("wrote {}\n", options.output);
}

// The set itself is let go: what it has in memory is not needed any more.
TrainingData load_training_data(const FitOptions& options, std::size_t shots, ProgressBar& bar, SharedFit& shared,
                                Recipe& recipe, DataFacts& facts) {
  DataOptions named = options.data;
  named.nested = options.groups.hierarchy;
  const FeatureSet set = load_data(named, options.run.threads, bar);
  if (holds_images(options.data.path)) facts.backbone = backbone_text(set);
  static_cast<void>(class_groups(set.class_names(), options.groups));  // an error before the work
  facts.test_examples = static_cast<std::size_t>(std::count(set.is_train().begin(), set.is_train().end(), 0));
  const Split split = draw_split(set, {shots, options.run.seed});
  add_metric_prior(options.recipe.metric, set.provenance(), set.dimension(), recipe);
  Provenance record;
  if (!options.unlabelled.empty()) {
    const FeatureSet unlabelled =
        load_unlabelled(options.unlabelled, set, load_options(options.data, options.run.threads, bar));
    facts.pool = add_pool_metric(unlabelled, set, split.support, options.run.threads, recipe, record);
  }
  prepare_shared_fit({options.class_ranks, options.checkpoint, options.checkpoint_seconds, options.shots,
                      options.calibrate, options.recipe.group.value_or(0)},
                     set, shared, recipe);
  TrainingData data = training_data(set, split.support, shared.communicator.get());
  data.provenance.merge(record);
  data.parents = class_groups(data.class_names, options.groups);
  if (!options.licence.empty()) data.provenance["data_licence"] = options.licence;
  return data;
}

void run_fit(const FitOptions& options) {
  const std::size_t shots = parse_shots(options.shots);
  if (!options.unlabelled.empty()) check_metric_beside_pool(options.recipe.metric);
  Recipe recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);
  ModelFit fitted;
  SharedFit shared;
  DataFacts facts;
  {
    ProgressBar bar(options.run.quiet);
    // Before the data, so that the others end where one process cannot read them.
    shared.communicator = open_communicator();
    TrainingData data = load_training_data(options, shots, bar, shared, recipe, facts);
    fitted = fit_model(std::move(data), recipe, {options.calibrate, options.strip, options.run.seed, options.shots},
                       bar.callback());
  }
  if (only_helps()) return;
  stop_if_interrupted();
  write_model(fitted.model, options.output);
  if (shared.checkpoint) shared.checkpoint->remove();
  if (!options.json.empty()) write_json(options.json, fit_json(options, recipe, fitted, facts));
  if (!options.run.quiet && options.json != "-") print_summary(options, recipe, fitted, facts);
}

}  // namespace

void add_fit(CLI::App& app, Action& action) {
  const auto options = std::make_shared<FitOptions>();
  CLI::App& command = *app.add_subcommand("fit", "Learn a model from labelled images or features");
  command
      .add_option("DATA", options->data.path,
                  "Folder of images with one folder per class, or a feature file; test examples are left out")
      ->required()
      ->type_name("");
  command.add_option("-o,--output", options->output, "Model file to write (.safetensors)")
      ->required()
      ->type_name("FILE");
  command.add_option("--shots", options->shots, "Examples per class to draw, or all")
      ->type_name("K|all")
      ->capture_default_str();
  command
      .add_option(
          "--unlabelled", options->unlabelled,
          "More images or features of the same kind without labels, a folder or a feature file: how they differ "
          "from their nearest neighbours tells how examples of one class differ")
      ->type_name("FOLDER|FILE");
  command.add_flag("--strip", options->strip,
                   "Leave the training examples out of the model: smaller, but it can neither be updated nor explain");
  command.add_flag("!--no-calibrate", options->calibrate,
                   "Skip the calibration: no temperature, no rejection of unknown inputs");
  command
      .add_option(
          "--class-ranks", options->class_ranks,
          "With several processes (mpirun): blocks into which the classes are divided; 0: chosen by their number")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option(
          "--checkpoint", options->checkpoint,
          "Keep the state in FILE and files beside it, and resume from there; removed once the model is written")
      ->type_name("FILE");
  command.add_option("--checkpoint-seconds", options->checkpoint_seconds, "Seconds between two checkpoints")
      ->type_name("S")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  command.add_option("--licence,--license", options->licence, "Licence of the training data, for the model card")
      ->type_name("TEXT");
  command.add_flag("--hierarchy", options->groups.hierarchy,
                   "Folders in folders are groups of classes: a class is named by its path, birds/woodpeckers/downy, "
                   "and predict names a group where the class is unsure");
  command
      .add_option("--parents", options->groups.parents,
                  "Groups of classes from a CSV file: a name and its group a line, downy,woodpeckers; groups may have "
                  "groups")
      ->type_name("FILE");
  add_labels(command, options->data);
  add_seed(command, options->run, "Seed of the split and of the training");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  command.add_flag("--verbose", options->verbose, "Print the radius, the metric and the calibration too");
  add_json(command, options->json, "Write the result and every probe as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->data.encoder, kAutoBackbone);
  add_view_examples(command, options->data.encoder);
  add_list(command, options->data.list);
  add_boxes(command, options->data.boxes, options->data.encoder);
  add_frames(command, options->data.frames);
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus fit photos/ --backbone mobilenet-0.25 -o model.safetensors\n"
              "  annulus fit features.safetensors --shots 5 --seed 1 -o model.safetensors");
  command.callback([options, &action] { action = [options] { run_fit(*options); }; });
}

}  // namespace annulus::cli
