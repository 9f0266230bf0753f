// annulus ablate: one part of the method varied on any features.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/protocols/ablation.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/report/tables/ablation_report.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/processes/launch.h"
#include "cli/recipe_options.h"
#include "cli/run_metadata.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct AblateCommand {
  DataOptions features;
  AblationOptions ablation;
  std::vector<std::string> shots{"1", "5"};
  std::size_t split_count = 3;
  std::string json;
  std::string csv;
  std::string resume;
  RunOptions run;
  RecipeOptions recipe;
};

void run_ablate(const AblateCommand& options) {
  AblationOptions ablation = options.ablation;
  ablation.shots.clear();
  for (const std::string& shots : options.shots) ablation.shots.push_back(parse_shots(shots));
  ablation.recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);
  check_methods(ablation.beside, nullptr, 0);
  const std::unique_ptr<RunCacheFile> cache = open_run_cache(options.resume);
  RunMetadata metadata =
      make_run_metadata(ablation.beside, {}, options.run.seed, options.split_count, options.run.threads);
  const AblationReport report = [&] {
    ProgressBar bar(options.run.quiet);
    const FeatureSet set = load_data(options.features, options.run.threads, bar);
    add_metric_prior(options.recipe.metric, set.provenance(), set.dimension(), ablation.recipe);
    SplitOptions splits{options.run.seed};
    splits.data_name = metadata.checksums["features"] = content_checksum(set);
    if (cache) splits.cached_runs = cache->runs();
    return ablate([&](std::size_t shots) { return splits_of_examples(set, shots, options.split_count, splits); },
                  ablation, bar.callback());
  }();
  if (only_helps()) return;
  metadata.test_labels_used = uses_test_labels(report);
  if (metadata.test_labels_used) metadata.chosen_on["rows marked as best"] = "learning rate on the TEST labels";
  if (!options.json.empty()) {
    write_output(options.json, ablation_json(report, {options.features.path, options.run.seed, options.split_count,
                                                      describe(ablation.recipe), metadata}));
  }
  if (!options.csv.empty()) write_output(options.csv, ablation_csv(report));
  if (options.json == "-" || options.csv == "-") return;
  fmt::print("{}", ablation_table(report, isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr));
}

std::string kinds_text() {
  std::string text = "What is varied:";
  for (const AblationKind& kind : ablation_kinds()) text += fmt::format(" {} ({});", kind.name, kind.title);
  text.back() = '.';
  return text;
}

}  // namespace

void add_ablate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<AblateCommand>();
  options->recipe.recipe = "ibm2";
  CLI::App& command = *app.add_subcommand("ablate", "Vary one part of the method and measure its effect");
  command.add_option("FEATURES", options->features.path, "Feature file or folder of images, as for evaluate")
      ->type_name("")
      ->required();
  std::vector<std::string> names;
  for (const AblationKind& kind : ablation_kinds()) names.push_back(kind.name);
  command.add_option("--what", options->ablation.what, kinds_text())
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  command.add_option("--values", options->ablation.values, "Values to try, in place of those of the paper")
      ->delimiter(',')
      ->type_name("VALUE,...");
  add_splits(command, options->shots, options->split_count);
  command.add_option("--beside", options->ablation.beside, "Methods to compare with")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->capture_default_str();
  add_labels(command, options->features);
  add_seed(command, options->run, "Seed of the first split");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write every run as JSON (without FILE: to standard output, instead of the table)");
  command.add_option("--csv", options->csv, "Write one line per run as CSV; -: standard output")->type_name("FILE");
  add_resume(command, options->resume);
  add_encoder_options(command, options->features.encoder, kAutoBackbone);
  add_recipe_options(command, options->recipe);
  add_example(command, "  annulus ablate features.safetensors --what virtual --values 1,10,50 --shots 5 --subsets 3");
  command.callback([options, &action] { action = [options] { run_ablate(*options); }; });
}

}  // namespace annulus::cli
