// annulus evaluate: the many-way protocol on feature files.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/many_way.h"
#include "annulus/eval/method.h"
#include "annulus/eval/report.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/load_data.h"
#include "cli/progress_bar.h"
#include "cli/recipe_options.h"

namespace annulus::cli {
namespace {

struct EvaluateOptions {
  DataOptions features;
  std::string train;
  std::string test;
  std::string base;
  std::vector<std::string> shots{"1", "5"};
  std::size_t subsets = 3;
  std::uint64_t training_seed = 0;
  std::vector<std::string> methods{"ncm", "baseline", "ibm2"};
  std::string json;
  std::string csv;
  RunOptions run;
  RecipeOptions recipe;
};

void check_sources(const EvaluateOptions& options) {
  const bool two_files = !options.train.empty() && !options.test.empty();
  const bool one_of_two = options.train.empty() != options.test.empty();
  if (one_of_two || options.features.path.empty() != two_files) {
    fail(ErrorKind::kUsage, "evaluate expects either one FEATURES file or both --train and --test");
  }
}

ManyWayReport evaluate_files(const EvaluateOptions& options, ManyWayOptions protocol, ReportContext& context) {
  ProgressBar bar(options.run.quiet);
  const std::optional<BaseClasses> base = load_base(options.base, options.features.encoder, options.run.threads, bar);
  if (base) protocol.base = &*base;
  context.base_source = options.base;
  if (!options.features.path.empty()) {
    const FeatureSet set = load_data(options.features, options.run.threads, bar);
    context.train_source = context.test_source = options.features.path;
    return evaluate_many_way(set, protocol, bar.callback());
  }
  const FeatureSet train = load_data({options.train, {}, options.features.encoder}, options.run.threads, bar);
  const FeatureSet test = load_data({options.test, {}, options.features.encoder}, options.run.threads, bar);
  context.train_source = options.train;
  context.test_source = options.test;
  return evaluate_many_way(train, test, protocol, bar.callback());
}

void print_report(const ManyWayReport& report, std::size_t subsets) {
  fmt::print("{}-way, features of {} numbers, {} test rows, {} {}\n{}", report.ways, report.dimension,
             report.results.front().runs.front().query_rows, subsets, subsets == 1 ? "subset" : "subsets",
             many_way_table(report));
}

void run_evaluate(const EvaluateOptions& options) {
  check_sources(options);
  ManyWayOptions protocol;
  protocol.shots.clear();
  for (const std::string& shots : options.shots) protocol.shots.push_back(parse_shots(shots));
  protocol.subsets = options.subsets;
  protocol.seed = options.run.seed;
  protocol.training_seed = options.training_seed;
  protocol.methods = options.methods;
  protocol.recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);

  ReportContext context{{}, {}, options.run.seed, options.subsets, describe(protocol.recipe)};
  const ManyWayReport report = evaluate_files(options, protocol, context);
  if (!options.json.empty()) write_output(options.json, many_way_json(report, context));
  if (!options.csv.empty()) write_output(options.csv, many_way_csv(report));
  if (options.json != "-" && options.csv != "-") print_report(report, options.subsets);
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App& command = *app.add_subcommand("evaluate", "Measure accuracy: all classes at once, k rows of each");
  command
      .add_option("FEATURES", options->features.path,
                  "Feature file or folder of images; is_train (train/ and test/ of a folder) says which rows may be "
                  "drawn, the others are tested on; without it every row "
                  "that was not drawn is")
      ->type_name("");
  command.add_option("--train", options->train, "Feature file or folder of images to draw training rows from")
      ->type_name("FILE");
  command.add_option("--test", options->test, "Feature file or folder of images of the test rows")->type_name("FILE");
  command.add_option("--shots", options->shots, "Rows a class, or all")
      ->delimiter(',')
      ->type_name("K,...")
      ->capture_default_str();
  command.add_option("--subsets", options->subsets, "Random draws to average over, with seeds seed, seed + 1, ...")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command.add_option("--methods", options->methods, method_list())
      ->delimiter(',')
      ->type_name("NAME,...")
      ->capture_default_str();
  add_base(command, options->base);
  add_labels(command, options->features);
  add_seed(command, options->run, "Seed of the first draw");
  command
      .add_option("--train-seed", options->training_seed,
                  "Added to a draw's seed for its training: other trainings on the same rows")
      ->type_name("N")
      ->capture_default_str();
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write every run as JSON (without FILE: to standard output, instead of the table)");
  command.add_option("--csv", options->csv, "Write one line a run as CSV; -: standard output")->type_name("FILE");
  add_encoder_options(command, options->features.encoder, kDefaultBackbone);
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus evaluate features.safetensors --shots 1,5 --subsets 3 --json report.json\n"
              "  annulus evaluate --train train.npz --test test.npz --shots all --methods ncm,ibm2");
  command.callback([options, &action] { action = [options] { run_evaluate(*options); }; });
}

}  // namespace annulus::cli
