// annulus fit: learns a model from labelled features.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/version.h"
#include "annulus/eval/method.h"
#include "annulus/eval/tally.h"
#include "annulus/learn/calibration.h"
#include "annulus/learn/model.h"
#include "annulus/store/model_file.h"
#include "annulus/task/few_shot_task.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/interrupt.h"
#include "cli/load_data.h"
#include "cli/progress_bar.h"
#include "cli/recipe_options.h"

namespace annulus::cli {
namespace {

struct FitOptions {
  DataOptions data;
  std::string output;
  std::string shots = "all";
  std::string method = "ibm2";
  std::string json;
  bool strip = false;
  bool calibrate = true;
  RunOptions run;
  RecipeOptions recipe;
};

// No times and no thread count, so that the same input gives the same file, bit for bit.
std::map<std::string, std::string> training_record(const FitOptions& options, const Recipe& recipe, std::size_t rows,
                                                   const FitResult& fit) {
  std::map<std::string, std::string> record = describe(recipe);
  record.erase("threads");
  record["method"] = options.method;
  record["version"] = kVersion;
  record["seed"] = std::to_string(options.run.seed);
  record["shots"] = options.shots;
  record["rows"] = std::to_string(rows);
  record["training_accuracy"] = fmt::format("{}", fit.training_accuracy);
  record["virtual_accuracy"] = fmt::format("{}", fit.virtual_accuracy);
  if (fit.search) {
    record["target"] = fmt::format("{}", fit.search->target);
    record["upper_accuracy"] = fmt::format("{}", fit.search->upper_accuracy);
  }
  return record;
}

std::map<std::string, std::string> model_provenance(const FeatureSet& set) {
  std::map<std::string, std::string> provenance = set.provenance();
  provenance.emplace("source", set.source());
  return provenance;
}

// What heads that never saw them say about held-out rows.
struct HeldOutScore {
  std::size_t rows = 0;
  double accuracy = 0.0;
  double ece = 0.0;
  double seconds = 0.0;
};

// Learns the temperature and the rule about strangers.
std::optional<HeldOutScore> calibrate_model(const FitOptions& options, const Recipe& recipe, const SupportRows& support,
                                            const FitResult& fit, const ProgressCallback& progress, Model& model) {
  const auto start = now();
  Refit& refit = options.method == "baseline" ? static_cast<Refit&>(fit_baseline) : static_cast<Refit&>(fit_ibm2);
  Calibration calibration = calibrate(support, fit, recipe, refit, progress);
  model.temperature = calibration.temperature;
  if (calibration.labels.empty()) return std::nullopt;
  model.unknown = std::move(calibration.unknown);
  Tally tally(fit.head.classes());
  std::vector<std::uint32_t> rows(calibration.labels.size());
  std::iota(rows.begin(), rows.end(), 0U);
  const auto probabilities = std::as_const(calibration.probabilities).view();
  tally.add(rows, calibration.labels, best_classes(probabilities), probabilities, true);
  const TallyResult result = tally.result();
  return HeldOutScore{rows.size(), result.accuracy, *result.ece, seconds_since(start)};
}

nlohmann::ordered_json fit_json(const FitOptions& options, const Model& model, std::size_t rows, const FitResult& fit,
                                const std::optional<HeldOutScore>& held_out) {
  nlohmann::ordered_json json = {{"model", options.output},
                                 {"method", options.method},
                                 {"classes", model.head.classes()},
                                 {"rows", rows},
                                 {"dimension", model.head.dimension()},
                                 {"epsilon", fit.epsilon},
                                 {"training_accuracy", 100.0 * fit.training_accuracy},
                                 {"virtual_accuracy", 100.0 * fit.virtual_accuracy},
                                 {"seconds", fit.seconds},
                                 {"options", model.training}};
  if (held_out) {
    json["temperature"] = model.temperature;
    json["held_out"] = {{"rows", held_out->rows},
                        {"accuracy", held_out->accuracy},
                        {"ece", held_out->ece},
                        {"seconds", held_out->seconds}};
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

void print_summary(const FitOptions& options, const Model& model, std::size_t rows, const FitResult& fit,
                   const std::optional<HeldOutScore>& held_out) {
  fmt::print("learnt {} classes from {} rows of {} numbers in {:.2f} s\n", model.head.classes(), rows,
             model.head.dimension(), fit.seconds);
  if (fit.search) {
    fmt::print("epsilon {:.3f} (T {:.1f} %, {} probes)\n", fit.epsilon, 100.0 * fit.search->target,
               fit.search->probes.size());
  } else if (options.method == "ibm2") {
    fmt::print("epsilon {:.3f} (given)\n", fit.epsilon);
  }
  fmt::print("training accuracy {:.2f} %", 100.0 * fit.training_accuracy);
  if (fit.epsilon > 0.0) fmt::print(", {:.2f} % on virtual examples", 100.0 * fit.virtual_accuracy);
  if (held_out) {
    fmt::print("\ntemperature {:.3f}: {} rows held out, {:.2f} % right, calibration error {:.2f} % ({:.2f} s)",
               model.temperature, held_out->rows, held_out->accuracy, held_out->ece, held_out->seconds);
  }
  fmt::print("\nwrote {}\n", options.output);
}

void run_fit(const FitOptions& options) {
  const std::size_t shots = parse_shots(options.shots);
  const Recipe recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);
  std::size_t rows = 0;
  FitResult fit;
  std::optional<HeldOutScore> held_out;
  Model model;
  {
    ProgressBar bar(options.run.quiet);
    const FeatureSet set = load_data(options.data, options.run.threads, bar);
    const std::vector<std::uint32_t> drawn = draw_split(set, {shots, options.run.seed}).support;
    LabelledRows support = gather(set, drawn);
    SupportRows kept = keep_support(support, paths_of(set, drawn));
    rows = support.labels.size();
    fit = options.method == "baseline" ? fit_baseline(std::move(support), recipe, bar.callback())
                                       : fit_ibm2(std::move(support), recipe, bar.callback());
    if (options.calibrate && !recipe.name.starts_with("paper")) {
      held_out = calibrate_model(options, recipe, kept, fit, bar.callback(), model);
    }
    model.support = std::move(kept);
    model.class_names.assign(set.class_names().begin(), set.class_names().end());
    model.provenance = model_provenance(set);
  }
  model.epsilon = fit.epsilon;
  model.training = training_record(options, recipe, rows, fit);
  model.head = std::move(fit.head);
  model.trained = std::move(fit.trained);
  if (options.strip) strip(model);
  stop_if_interrupted();
  write_model(model, options.output);
  if (!options.json.empty()) write_json(options.json, fit_json(options, model, rows, fit, held_out));
  if (!options.run.quiet && options.json != "-") print_summary(options, model, rows, fit, held_out);
}

}  // namespace

void add_fit(CLI::App& app, Action& action) {
  const auto options = std::make_shared<FitOptions>();
  CLI::App& command = *app.add_subcommand("fit", "Learn a model from labelled images or features");
  command
      .add_option("DATA", options->data.path,
                  "Folder of images, a folder a class, or a feature file; test rows are left out")
      ->required()
      ->type_name("");
  command.add_option("-o,--output", options->output, "Model file to write (.safetensors)")
      ->required()
      ->type_name("FILE");
  command.add_option("--shots", options->shots, "Rows a class to draw, or all")
      ->type_name("K|all")
      ->capture_default_str();
  command.add_option("--method", options->method, "What to learn with")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"ibm2", "baseline"}))
      ->capture_default_str();
  command.add_flag("--strip", options->strip,
                   "Leave the training rows out of the model: smaller, but it can neither grow nor explain");
  command.add_flag("!--no-calibrate", options->calibrate,
                   "Hold no rows out to learn the temperature of probabilities and when to answer unknown");
  add_labels(command, options->data);
  add_seed(command, options->run, "Which rows are drawn, and every random number of the training");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write the result and every probe as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->data.encoder, kDefaultBackbone);
  add_list(command, options->data.list);
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus fit photos/ --backbone mobilenet-0.25 -o model.safetensors\n"
              "  annulus fit features.safetensors --shots 5 --seed 1 -o model.safetensors");
  command.callback([options, &action] { action = [options] { run_fit(*options); }; });
}

}  // namespace annulus::cli
