// annulus episodes: thousands of small tasks drawn from a feature file.
#include "annulus/eval/episodes.h"

#include <fmt/format.h>

#include <memory>

#include "annulus/eval/method.h"
#include "annulus/eval/report.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/launch.h"
#include "cli/load_data.h"
#include "cli/progress_bar.h"
#include "cli/recipe_options.h"
#include "cli/stamp.h"

namespace annulus::cli {
namespace {

struct EpisodesCommand {
  DataOptions features;
  EpisodesOptions protocol;
  std::string base;
  std::string resume;
  std::string json;
  RunOptions run;
  RecipeOptions recipe;
};

// The learning rates that were chosen, if any, as a line.
std::string rates_text(const EpisodesReport& report) {
  std::string text;
  for (const EpisodesResult& result : report.results) {
    if (!result.learning_rate) continue;
    text += fmt::format("{}{} k={} {}", text.empty() ? "learning rates: " : ", ", result.method, result.shots,
                        *result.learning_rate);
  }
  return text.empty() ? text : text + "\n";
}

void run_episodes(const EpisodesCommand& options) {
  EpisodesOptions protocol = options.protocol;
  protocol.seed = options.run.seed;
  protocol.threads = options.run.threads;
  protocol.recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);
  ProgressBar bar(options.run.quiet);
  const FeatureSet set = load_data(options.features, options.run.threads, bar);
  const std::optional<BaseClasses> base = load_base(options.base, options.features.encoder, options.run.threads, bar);
  if (base) protocol.base = &*base;
  const std::unique_ptr<CellFile> cells = open_cells(options.resume);
  if (cells) protocol.cells = cells->store();
  Stamp stamp = make_stamp(protocol.methods, protocol.choose_learning_rate ? "20 extra episodes" : "", protocol.seed,
                           protocol.seeds, protocol.threads);
  stamp.checksums["features"] = content_checksum(set);
  if (base) stamp.checksums["base"] = base->checksum();
  protocol.data_name = data_name(stamp);
  const EpisodesReport report = evaluate_episodes(set, protocol, bar.callback());
  if (only_helps()) return;
  if (!options.json.empty()) write_output(options.json, episodes_json(report, protocol, options.features.path, stamp));
  if (options.json == "-") return;
  fmt::print("{}-way episodes, {} queries a class, features of {} numbers, {} episodes x {} {}\n{}{}{}{}",
             protocol.ways, protocol.queries, report.dimension, protocol.episodes, protocol.seeds,
             protocol.seeds == 1 ? "seed" : "seeds", episodes_table(report), rates_text(report),
             comparison_table(report.comparisons, "episode"), stamp_text(stamp));
}

void add_count(CLI::App& command, const char* name, std::size_t& count, const char* meaning) {
  command.add_option(name, count, meaning)
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
}

}  // namespace

void add_episodes(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EpisodesCommand>();
  options->recipe.recipe = "episodes";
  CLI::App& command = *app.add_subcommand("episodes", "Measure accuracy: many small tasks of a few classes each");
  command
      .add_option("FEATURES", options->features.path, "Feature file or folder of images; episodes draw from all rows")
      ->type_name("")
      ->required();
  add_count(command, "--ways", options->protocol.ways, "Classes of an episode");
  command.add_option("--shots", options->protocol.shots, "Rows a class to learn from")
      ->delimiter(',')
      ->type_name("K,...")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  add_count(command, "--queries", options->protocol.queries, "Rows a class to be recognised");
  add_count(command, "--episodes", options->protocol.episodes, "Episodes of each seed");
  add_count(command, "--seeds", options->protocol.seeds, "Seeds to average over: seed, seed + 1, ...");
  command.add_option("--methods", options->protocol.methods, method_list())
      ->delimiter(',')
      ->type_name("NAME,...")
      ->capture_default_str();
  add_against(command, options->protocol.against);
  command.add_flag("--choose-lr", options->protocol.choose_learning_rate,
                   "baseline and ibm2 take the learning rate of 1e-5, ..., 1 that is best on 20 extra episodes");
  add_resume(command, options->resume);
  add_base(command, options->base);
  add_labels(command, options->features);
  add_seed(command, options->run, "First seed");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json,
           "Write the results as JSON (without FILE: to standard output, instead of the table)");
  add_encoder_options(command, options->features.encoder, kDefaultBackbone);
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus episodes features.safetensors --ways 5 --shots 1,5 --queries 15 --episodes 500 --seeds 5");
  command.callback([options, &action] { action = [options] { run_episodes(*options); }; });
}

}  // namespace annulus::cli
