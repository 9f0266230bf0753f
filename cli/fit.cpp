// annulus fit: learns a model from labelled features.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/version.h"
#include "annulus/learn/fit_model.h"
#include "annulus/learn/work_share.h"
#include "annulus/store/model_file.h"
#include "annulus/store/training_log_file.h"
#include "annulus/task/few_shot_task.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/load_data.h"
#include "cli/progress_bar.h"
#include "cli/recipe_options.h"
#include "cli/team.h"

namespace annulus::cli {
namespace {

struct FitOptions {
  DataOptions data;
  std::string output;
  std::string shots = "all";
  std::string method = "ibm2";
  std::string licence;  // of the training data, for the record
  std::string json;
  bool strip = false;
  bool calibrate = true;
  std::size_t class_ranks = 0;
  std::string checkpoint;
  double checkpoint_seconds = 30.0;
  RunOptions run;
  RecipeOptions recipe;
};

nlohmann::ordered_json fit_json(const FitOptions& options, const Model& model, std::size_t rows, const FitResult& fit,
                                const HeldOutQuality& held_out, double held_out_seconds) {
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
  if (held_out.rows > 0) {
    json["temperature"] = model.temperature;
    json["held_out"] = {{"rows", held_out.rows},
                        {"accuracy", 100.0 * held_out.accuracy},
                        {"ece", 100.0 * held_out.calibration_error},
                        {"seconds", held_out_seconds}};
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
                   const HeldOutQuality& held_out, double held_out_seconds) {
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
  if (held_out.rows > 0) {
    fmt::print("\ntemperature {:.3f}: {} rows held out, {:.2f} % right, calibration error {:.2f} % ({:.2f} s)",
               model.temperature, held_out.rows, 100.0 * held_out.accuracy, 100.0 * held_out.calibration_error,
               held_out_seconds);
  }
  fmt::print("\nwrote {}\n", options.output);
}

// Processes that were given different data would make nonsense together.
void expect_same(Team& team, const std::string& own) {
  std::string first = own;
  team.broadcast(std::as_writable_bytes(std::span(first)));
  double differ = own == first ? 0.0 : 1.0;
  team.sum(std::span<double>(&differ, 1));
  if (differ > 0.0) {
    fail(ErrorKind::kInput, "expected the same rows and options on every process, found others on {} of {}", differ,
         team.size());
  }
}

// Stands for everything that the numbers of a fit depend on.
std::string fit_key(const FitOptions& options, const Recipe& recipe, const FeatureSet& set) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", kVersion, content_checksum(set), options.method,
                                 options.shots, options.calibrate, options.recipe.group.value_or(0));
  for (const auto& [name, value] : describe(recipe)) text += name + "=" + value + "\n";
  return sha256_hex(std::as_bytes(std::span(text)));
}

// What a fit by several processes, or one that can go on after it was ended, needs beside its recipe.
struct FitCompany {
  std::unique_ptr<Team> team;
  std::optional<WorkShare> share;
  std::optional<TrainingLogFile> log;
};

void gather_company(const FitOptions& options, const FeatureSet& set, FitCompany& company, Recipe& recipe) {
  if (!company.team && options.checkpoint.empty()) return;
  const std::string key = fit_key(options, recipe, set);
  if (company.team) {
    expect_same(*company.team, key);
    company.share.emplace(*company.team, options.class_ranks, set.classes());
    set_share(recipe, &*company.share);
  }
  if (options.checkpoint.empty()) return;
  TrainingLogFile::Options keeping{options.checkpoint_seconds, company.team.get(), true};
  if (company.share) keeping.writes = company.share->same_block().rank() == 0;
  company.log.emplace(options.checkpoint, key, keeping);
  set_log(recipe, &*company.log);
}

// The set itself is let go: what it has in memory is not needed any more.
TrainingData load_training_data(const FitOptions& options, std::size_t shots, ProgressBar& bar, FitCompany& company,
                                Recipe& recipe) {
  const FeatureSet set = load_data(options.data, options.run.threads, bar);
  const Split split = draw_split(set, {shots, options.run.seed});
  gather_company(options, set, company, recipe);
  TrainingData data = training_data(set, split.support, company.team.get());
  if (!options.licence.empty()) data.provenance["data_licence"] = options.licence;
  return data;
}

void run_fit(const FitOptions& options) {
  const std::size_t shots = parse_shots(options.shots);
  Recipe recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);
  std::size_t rows = 0;
  ModelFit fitted;
  FitCompany company;
  {
    ProgressBar bar(options.run.quiet);
    // Before the data, so that the others end where one process cannot read them.
    company.team = open_team();
    TrainingData data = load_training_data(options, shots, bar, company, recipe);
    rows = data.rows.labels.size();
    fitted =
        fit_model(std::move(data), recipe,
                  {options.method, options.calibrate, options.strip, options.run.seed, options.shots}, bar.callback());
  }
  const HeldOutQuality held_out = quality_of(fitted.held_out);
  const double seconds = fitted.calibration_seconds;
  if (only_helps()) return;
  stop_if_interrupted();
  write_model(fitted.model, options.output);
  if (company.log) company.log->remove();
  if (!options.json.empty())
    write_json(options.json, fit_json(options, fitted.model, rows, fitted.fit, held_out, seconds));
  if (!options.run.quiet && options.json != "-")
    print_summary(options, fitted.model, rows, fitted.fit, held_out, seconds);
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
  command
      .add_option(
          "--class-ranks", options->class_ranks,
          "Of a fit by several processes (mpirun): into how many blocks classes are cut; the rest share the rows. "
          "0: chosen by the number of classes")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option(
          "--checkpoint", options->checkpoint,
          "Keep what is computed in FILE and files beside it, and go on from there; removed once the model is written")
      ->type_name("FILE");
  command.add_option("--checkpoint-seconds", options->checkpoint_seconds, "Time between two states that are kept")
      ->type_name("S")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  command.add_option("--licence,--license", options->licence, "Licence of the training data, for the model's card")
      ->type_name("TEXT");
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
