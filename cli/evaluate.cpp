// annulus evaluate: the many-way protocol on feature files.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/report/tables/protocol_report.h"
#include "annulus/store/features/split_file.h"
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

struct EvaluateOptions {
  DataOptions features;
  std::string train;
  std::string test;
  std::string base;
  std::vector<std::string> shots{"1", "5"};
  std::size_t split_count = 3;
  std::uint64_t training_seed = 0;
  std::vector<std::string> methods{"ncm", "gda", "lda", "linear-svm", "baseline", "ibm2", "default"};
  std::string against;
  std::string query_balance;
  std::string splits;
  std::string write_splits;
  std::vector<std::string> lists;
  std::string resume;
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
  if (!options.splits.empty() && !options.lists.empty()) {
    fail(ErrorKind::kUsage, "evaluate expects --splits or --lists, found both");
  }
}

// The splits that the user fixed; none: they are drawn by seed.
std::vector<Split> fixed_splits(const EvaluateOptions& options, const FeatureSet& train, const FeatureSet& test) {
  if (!options.splits.empty()) return read_splits(options.splits, train, test);
  std::vector<Split> splits;
  for (const std::string& list : options.lists) {
    splits.push_back(read_row_list(list, train, test));
    splits.back().seed = options.run.seed + splits.size() - 1;
  }
  return splits;
}

// Names the features by their content, in the metadata and in the keys of cached runs.
void name_data(ManyWayOptions& protocol, RunMetadata& metadata, const FeatureSet& train, const FeatureSet& test) {
  metadata.checksums["features"] = content_checksum(train);
  if (&train != &test) metadata.checksums["test"] = content_checksum(test);
  if (protocol.base != nullptr) metadata.checksums["base"] = protocol.base->checksum();
  protocol.data_name = data_name(metadata);
}

ManyWayReport evaluate_sets(const EvaluateOptions& options, ManyWayOptions& protocol, ReportContext& context,
                            const FeatureSet& train, const FeatureSet& test, ProgressBar& bar) {
  protocol.splits = fixed_splits(options, train, test);
  add_metric_prior(options.recipe.metric, train.provenance(), train.dimension(), protocol.recipe);
  context.recipe = describe(protocol.recipe);
  name_data(protocol, *context.metadata, train, test);
  const ManyWayReport report = &train == &test ? evaluate_many_way(train, protocol, bar.callback())
                                               : evaluate_many_way(train, test, protocol, bar.callback());
  for (const Split& split : report.splits) context.metadata->splits.push_back(split_checksum(split));
  if (!options.write_splits.empty()) write_splits(options.write_splits, train, test, report.splits);
  return report;
}

ManyWayReport evaluate_files(const EvaluateOptions& options, ManyWayOptions protocol, ReportContext& context) {
  ProgressBar bar(options.run.quiet);
  const std::optional<BaseClasses> base = load_base(options.base, options.features.encoder, options.run.threads, bar);
  if (base) protocol.base = &*base;
  context.base_source = options.base;
  if (!options.features.path.empty()) {
    const FeatureSet set = load_data(options.features, options.run.threads, bar);
    context.train_source = context.test_source = options.features.path;
    return evaluate_sets(options, protocol, context, set, set, bar);
  }
  const FeatureSet train = load_data({options.train, {}, options.features.encoder}, options.run.threads, bar);
  const FeatureSet test = load_data({options.test, {}, options.features.encoder}, options.run.threads, bar);
  context.train_source = options.train;
  context.test_source = options.test;
  return evaluate_sets(options, protocol, context, train, test, bar);
}

void print_report(const ManyWayReport& report, const RunMetadata& metadata) {
  const std::size_t split_count = report.results.front().runs.size();
  const std::string balance =
      report.query_balance ? fmt::format(" ({})", to_string(*report.query_balance)) : std::string();
  fmt::print("{}-way, features of {} dimensions, {} test examples{}, {} {}\n{}{}{}", report.ways, report.dimension,
             report.results.front().runs.front().query_examples, balance, split_count,
             split_count == 1 ? "split" : "splits", many_way_table(report),
             comparison_table(report.comparisons, "class"), metadata_text(metadata));
}

void run_evaluate(const EvaluateOptions& options) {
  check_sources(options);
  ManyWayOptions protocol;
  protocol.shots.clear();
  for (const std::string& shots : options.shots) protocol.shots.push_back(parse_shots(shots));
  protocol.split_count = options.split_count;
  protocol.seed = options.run.seed;
  protocol.training_seed = options.training_seed;
  protocol.methods = options.methods;
  protocol.recipe = make_recipe(options.recipe, options.run.seed, options.run.threads);

  protocol.against = options.against;
  if (!options.query_balance.empty()) protocol.query_balance = query_balance_from(options.query_balance);
  const std::unique_ptr<RunCacheFile> cache = open_run_cache(options.resume);
  if (cache) protocol.cached_runs = cache->runs();

  ReportContext context{{}, {}, options.run.seed, options.split_count, {}};
  context.metadata = make_run_metadata(options.methods, {}, options.run.seed, options.split_count, options.run.threads);
  const ManyWayReport report = evaluate_files(options, protocol, context);
  if (only_helps()) return;
  if (!options.json.empty()) write_output(options.json, many_way_json(report, context));
  if (!options.csv.empty()) write_output(options.csv, many_way_csv(report));
  if (options.json != "-" && options.csv != "-") print_report(report, *context.metadata);
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EvaluateOptions>();
  options->recipe.recipe = "ibm2";
  CLI::App& command =
      *app.add_subcommand("evaluate", "Measure accuracy with all classes at once and k examples per class");
  command
      .add_option("FEATURES", options->features.path,
                  "Feature file or folder of images. Where is_train (train/ and test/ of a folder) marks the training "
                  "examples, the others are the test examples; otherwise every example that was not drawn is")
      ->type_name("");
  command.add_option("--train", options->train, "Feature file or folder of images to draw training examples from")
      ->type_name("FILE");
  command.add_option("--test", options->test, "Feature file or folder of images of the test examples")
      ->type_name("FILE");
  add_splits(command, options->shots, options->split_count);
  command.add_option("--methods", options->methods, method_list())
      ->delimiter(',')
      ->type_name("NAME,...")
      ->capture_default_str();
  add_against(command, options->against);
  add_query_balance(
      command, options->query_balance,
      "Draw the test examples: balanced, as many of each class; dirichlet:A, fractions of the classes from "
      "a Dirichlet distribution with concentration A. Without it, all test examples are used");
  command.add_option("--splits", options->splits, "Use the splits of a split file, instead of --shots")
      ->type_name("FILE");
  command
      .add_option("--lists", options->lists,
                  "Train on the examples that a list names (a path or row number per line); each list is a split")
      ->delimiter(',')
      ->type_name("FILE,...");
  command.add_option("--write-splits", options->write_splits, "Write the splits to a split file")->type_name("FILE");
  add_resume(command, options->resume);
  add_base(command, options->base);
  add_labels(command, options->features);
  add_seed(command, options->run, "Seed of the first split");
  command
      .add_option("--train-seed", options->training_seed,
                  "Added to the seed of a split for its training: other trainings on the same examples")
      ->type_name("N")
      ->capture_default_str();
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write every run as JSON (without FILE: to standard output, instead of the table)");
  command.add_option("--csv", options->csv, "Write one line per run as CSV; -: standard output")->type_name("FILE");
  add_encoder_options(command, options->features.encoder, kAutoBackbone);
  add_view_examples(command, options->features.encoder);
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus evaluate features.safetensors --shots 1,5 --subsets 3 --json report.json\n"
              "  annulus evaluate --train train.npz --test test.npz --shots all --methods ncm,ibm2");
  command.callback([options, &action] { action = [options] { run_evaluate(*options); }; });
}

}  // namespace annulus::cli
