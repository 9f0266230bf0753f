// annulus discover: what is in a pool of unlabelled examples.
#include "annulus/eval/pool/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/eval/pool/label_next.h"
#include "annulus/eval/pool/pool_rows.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/pipeline/group_files.h"
#include "annulus/pipeline/pool_set.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/store/models/model_file.h"
#include "cli/command.h"
#include "cli/load_data.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct DiscoverCommand {
  std::string pool;
  std::string model;
  double false_reject = kFalseReject;
  EncoderOptions encoder;
  std::string names;
  std::string features;
  std::string links;
  std::string table;
  std::string page;
  std::string lines;
  std::string json;
  RunOptions run;
};

// Rows that a model rejects as unknown.
std::vector<std::uint8_t> unknown_rows(const Model& model, const DiscoverCommand& options, const FeatureSet& pool) {
  const Matrix<float> rows = features_of(pool);
  PoolBelief belief = belief_of(model, rows.view(), options.false_reject, options.run.threads);
  if (belief.unknown.empty()) {
    fail(ErrorKind::kInput,
         "{}: expected a model that rejects unknown inputs, found one that cannot: fit it with three or more classes "
         "and five or more examples",
         options.model);
  }
  const auto count = std::count(belief.unknown.begin(), belief.unknown.end(), 1);
  if (count < 2) {
    fail(ErrorKind::kInput, "{}: expected two or more examples that {} does not know, found {}", options.pool,
         options.model, count);
  }
  return std::move(belief.unknown);
}

FeatureSet load(const DiscoverCommand& options, DiscoverOptions& grouping, ProgressBar& bar) {
  const LoadOptions loading = load_options({{}, {}, options.encoder}, options.run.threads, bar);
  if (options.model.empty()) return load_pool(options.pool, loading);
  const Model model = read_model(options.model);
  const std::vector<std::string> paths{options.pool};
  FeatureSet pool = load_prediction_set(paths, model, options.model, loading);
  grouping.looked_at = unknown_rows(model, options, pool);
  return pool;
}

void write_files(const DiscoverCommand& options, const FeatureSet& pool, const GroupSheet& sheet, ProgressBar& bar) {
  if (!options.links.empty()) write_group_links(sheet, options.links);
  if (!options.table.empty()) write_group_csv(sheet, options.table);
  if (!options.features.empty()) write_features(labelled_by_groups(pool, sheet), options.features);
  if (!options.page.empty()) write_discover_page(sheet, options.page, bar.callback());
}

void run_discover(const DiscoverCommand& options) {
  check_false_reject(options.false_reject);
  const bool images = holds_images(options.pool);
  if (!options.links.empty() && !images) {
    fail_field(ErrorKind::kUsage, "links", "expected a folder of images for {}, found {}", options.pool);
  }
  GroupSheet sheet;
  {
    ProgressBar bar(options.run.quiet);
    const GroupNames names = options.names.empty() ? GroupNames{} : read_group_names(options.names);
    DiscoverOptions grouping;
    grouping.threads = options.run.threads;
    const FeatureSet pool = load(options, grouping, bar);
    sheet.found = discover(features_of(pool), pool.paths(), grouping, bar.callback());
    sheet.source = options.pool;
    sheet.model = options.model;
    sheet.images = images;
    sheet.paths.assign(pool.paths().begin(), pool.paths().end());
    name_groups(names, sheet);
    write_files(options, pool, sheet, bar);
  }
  stop_if_interrupted();
  if (!options.lines.empty()) write_output(options.lines, discover_json_lines(sheet));
  if (!options.json.empty()) write_json(options.json, discover_json(sheet));
  if (options.run.quiet || options.json == "-" || options.lines == "-") return;
  fmt::print("{}", discover_text(sheet));
  for (const std::string& file : {options.features, options.links, options.table, options.page}) {
    if (!file.empty()) fmt::print("wrote {}\n", file);
  }
}

}  // namespace

void add_discover(CLI::App& app, Action& action) {
  const auto options = std::make_shared<DiscoverCommand>();
  CLI::App& command = *app.add_subcommand("discover", "Group alike images or features that have no labels");
  command.add_option("POOL", options->pool, "Folder of images, or a feature file; labels are not looked at")
      ->required()
      ->type_name("");
  command.add_option("--model", options->model, "Group only what this model rejects as unknown")->type_name("MODEL");
  command.add_option("--false-reject", options->false_reject, "False-rejection rate at which the model rejects")
      ->type_name("RATE")
      ->capture_default_str();
  command
      .add_option("--names", options->names,
                  "Names of groups, lines such as group-001,daisy; what is written then has the named groups only")
      ->type_name("FILE");
  command.add_option("-o,--output", options->features, "Write features with the groups as labels")->type_name("FILE");
  command.add_option("--links", options->links, "Write a folder for each group, with links to its images")
      ->type_name("DIR");
  command
      .add_option("--csv", options->table,
                  "Write the group of each example; as metadata.csv in a folder it is what fit takes")
      ->type_name("FILE");
  command.add_option("--html", options->page, "Write a page of the groups, with thumbnails of images")
      ->type_name("FILE");
  command.add_option("--jsonl", options->lines, "Write every group, one per line; -: standard output")
      ->type_name("FILE");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write the summary as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->encoder, "what the model was trained with, else auto");
  add_example(command,
              "  annulus discover photos/ --html groups.html\n"
              "  annulus discover photos/ --names names.csv --links named/");
  command.callback([options, &action] { action = [options] { run_discover(*options); }; });
}

}  // namespace annulus::cli
