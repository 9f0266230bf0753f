// annulus episodes: thousands of small tasks drawn from a feature file.
#include "annulus/eval/protocols/episodes.h"

#include <fmt/format.h>

#include <memory>

#include "annulus/learn/baselines/method.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/report/tables/episodes_report.h"
#include "annulus/report/tables/protocol_report.h"
#include "annulus/task/query_balance.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/processes/launch.h"
#include "cli/recipe_options.h"
#include "cli/run_metadata.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct EpisodesCommand {
  DataOptions features;
  EpisodesOptions protocol;
  std::string base;
  std::string query_balance;
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
  if (!options.query_balance.empty()) protocol.query_balance = query_balance_from(options.query_balance);
  protocol.recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);
  ProgressBar bar(options.run.quiet);
  const FeatureSet set = load_data(options.features, options.run.threads, bar);
  add_metric_prior(options.recipe.metric, set.provenance(), set.dimension(), protocol.recipe);
  const std::optional<BaseClasses> base = load_base(options.base, options.features.encoder, options.run.threads, bar);
  if (base) protocol.base = &*base;
  const std::unique_ptr<RunCacheFile> cache = open_run_cache(options.resume);
  if (cache) protocol.cached_runs = cache->seeds();
  RunMetadata metadata = make_run_metadata(protocol.methods, protocol.choose_learning_rate ? "20 extra episodes" : "",
                                           protocol.seed, protocol.seeds, protocol.threads);
  metadata.checksums["features"] = content_checksum(set);
  if (base) metadata.checksums["base"] = base->checksum();
  protocol.data_name = data_name(metadata);
  const EpisodesReport report = evaluate_episodes(set, protocol, bar.callback());
  if (only_helps()) return;
  if (!options.json.empty())
    write_output(options.json, episodes_json(report, protocol, options.features.path, metadata));
  if (options.json == "-") return;
  const std::string balance =
      protocol.query_balance.dirichlet ? fmt::format(" on average ({})", to_string(protocol.query_balance)) : "";
  fmt::print("{}-way episodes, {} queries per class{}, features of {} dimensions, {} episodes x {} {}\n{}{}{}{}",
             protocol.ways, protocol.queries, balance, report.dimension, protocol.episodes, protocol.seeds,
             protocol.seeds == 1 ? "seed" : "seeds", episodes_table(report), rates_text(report),
             comparison_table(report.comparisons, "episode"), metadata_text(metadata));
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
  CLI::App& command = *app.add_subcommand("episodes", "Measure accuracy over many small tasks of a few classes each");
  command
      .add_option("FEATURES", options->features.path,
                  "Feature file or folder of images; episodes draw from all examples")
      ->type_name("")
      ->required();
  add_count(command, "--ways", options->protocol.ways, "Classes per episode");
  command.add_option("--shots", options->protocol.shots, "Examples per class to learn from")
      ->delimiter(',')
      ->type_name("K,...")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  add_count(command, "--queries", options->protocol.queries, "Test examples per class");
  add_count(command, "--episodes", options->protocol.episodes, "Episodes per seed");
  add_count(command, "--seeds", options->protocol.seeds, "Seeds to average over: seed, seed + 1, ...");
  command.add_option("--methods", options->protocol.methods, method_list())
      ->delimiter(',')
      ->type_name("NAME,...")
      ->capture_default_str();
  add_against(command, options->protocol.against);
  add_query_balance(
      command, options->query_balance,
      "Test examples of an episode: balanced, as many of each class; dirichlet:A, fractions of the classes "
      "from a Dirichlet distribution with concentration A. Without it, they are balanced");
  command.add_flag("--choose-lr", options->protocol.choose_learning_rate,
                   "Choose the learning rate of trained methods from 1e-5, ..., 1 on 20 extra episodes");
  add_resume(command, options->resume);
  add_base(command, options->base);
  add_labels(command, options->features);
  add_seed(command, options->run, "First seed");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json,
           "Write the results as JSON (without FILE: to standard output, instead of the table)");
  add_encoder_options(command, options->features.encoder, kAutoBackbone);
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus episodes features.safetensors --ways 5 --shots 1,5 --queries 15 --episodes 500 --seeds 5");
  command.callback([options, &action] { action = [options] { run_episodes(*options); }; });
}

}  // namespace annulus::cli
