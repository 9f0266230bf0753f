// annulus reproduce: the tables of the paper on the authors' feature files, or on one's own in the same tree.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/paper/paper_features.h"
#include "annulus/pipeline/paper/reproduce_table.h"
#include "annulus/report/tables/reproduce_report.h"
#include "annulus/store/features/feature_tree.h"
#include "cli/command.h"
#include "cli/demo/reproduce_emoji.h"
#include "cli/load_data.h"
#include "cli/processes/launch.h"
#include "cli/recipe_options.h"
#include "cli/run_metadata.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct ReproduceCommand {
  TableOptions table;
  std::string features;
  std::string images;
  std::vector<std::string> networks;  // METHOD/ARCH=NAME
  std::string json;
  std::string resume;
  RunOptions run;
  EmojiProtocols emoji;
  bool seeds_given = false;
};

void check_options(const ReproduceCommand& options) {
  const std::string& table = options.table.table;
  if (options.features.empty() && options.images.empty()) {
    fail(ErrorKind::kUsage, "{} expects --features DIR or --images DIR, found none", table);
  }
  if (options.images.empty() && (!options.networks.empty() || !options.emoji.encoder.backbone.empty())) {
    fail(ErrorKind::kUsage, "a network is of use with --images DIR, found --features alone");
  }
}

void run_emoji(const ReproduceCommand& options) {
  if (!options.features.empty() || !options.images.empty() || !options.table.only.empty() || !options.json.empty() ||
      !options.resume.empty()) {
    fail(ErrorKind::kUsage,
         "emoji fetches its own data and writes into --output: it takes no --features, --images, --only, --json, "
         "--resume");
  }
  EmojiProtocols protocols = options.emoji;
  RecipeOptions recipe = options.table.recipe;
  if (options.table.recipe_of_paper) recipe.recipe = "ibm2";
  protocols.recipe = make_recipe(recipe, options.run.seed, options.run.threads);
  if (options.table.recipe_of_paper) recipe.recipe = "episodes";
  protocols.episodes_recipe = make_recipe(recipe, options.run.seed, options.run.threads);
  if (!options.table.shots.empty()) protocols.shots = options.table.shots;
  protocols.episodes = options.table.episodes.episodes;
  if (options.seeds_given) protocols.seeds = options.table.episodes.seeds;
  protocols.run = options.run;
  reproduce_emoji(protocols);
}

std::map<std::string, std::string> networks_of(const ReproduceCommand& options) {
  std::map<std::string, std::string> networks;
  for (const std::string& text : options.networks) {
    const std::size_t equals = text.find('=');
    const std::string row = text.substr(0, std::min(equals, text.size()));
    const auto slashes = std::count(row.begin(), row.end(), '/');
    if (equals == std::string::npos || equals + 1 == text.size() || slashes < 1 || slashes > 2) {
      fail(ErrorKind::kUsage, "expected --network METHOD/ARCH=NAME or METHOD/DATASET/ARCH=NAME, found \"{}\"", text);
    }
    networks[row] = text.substr(equals + 1);
  }
  return networks;
}

// Encodes what the table needs and its folder of features lacks.
void make_features(ReproduceCommand& options, const PaperTable& table) {
  ProgressBar bar(options.run.quiet);
  PaperImageOptions making;
  making.root = options.images;
  making.seed = options.run.seed;
  making.networks = networks_of(options);
  making.encoder = options.emoji.encoder;
  making.threads = options.run.threads;
  making.first_fraction = first_fraction();
  making.progress = bar.callback();
  making.note = notes_of(bar);
  if (options.features.empty()) options.features = made_features_folder(making).string();
  std::filesystem::create_directories(options.features);
  const FeatureTree tree(options.features);
  const auto missing = missing_features(table.cells, tree, options.table.runs, table.name == kEpisodesTable);
  if (missing.empty()) return;
  bar.note(fmt::format("features are made in {}", options.features));
  make_paper_features(missing, tree, making);
}

// Measures the table and prints each row when it is there.
ReproduceReport measure(const ReproduceCommand& options, PaperTable table, const FeatureTree& tree,
                        const TextStyle& style) {
  const std::unique_ptr<RunCacheFile> finished = open_run_cache(options.resume);
  ProgressBar bar(options.run.quiet);
  const auto print = [&](std::span<const ReproducedCell> cells, const GainByShots* gain) {
    bar.clear();
    if (options.json == "-") return;
    write_output("-", reproduce_lines(cells, style) + (gain != nullptr ? gain_lines(*gain) : std::string()));
    std::fflush(stdout);
  };
  return reproduce_table(std::move(table), tree, options.table, finished.get(), bar.callback(), print);
}

void run_reproduce(ReproduceCommand options) {
  if (options.table.table == "emoji") return run_emoji(options);
  check_options(options);
  options.table.seed = options.run.seed;
  options.table.threads = options.run.threads;
  PaperTable table = chosen_table(options.table);
  if (!options.images.empty()) make_features(options, table);
  const FeatureTree tree(options.features);
  const TextStyle style{isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr};
  const ReproduceOptions protocol = protocol_of(options.table, table.cells.front().features.architecture);
  const bool text = options.json != "-";
  if (text) write_output("-", reproduce_head(table, protocol, style));
  std::fflush(stdout);
  const ReproduceReport report = measure(options, std::move(table), tree, style);
  if (text) write_output("-", reproduce_foot(report, style));
  std::fflush(stdout);
  if (!options.json.empty()) {
    write_output(options.json, reproduce_json(report, protocol, options.features, metadata_of(report, options.table)));
  }
  if (report.cells.empty()) {
    fail(ErrorKind::kInput, "{}: found none of the files that {} needs; the list says which belong where",
         options.features, report.table.name);
  }
}

void add_protocol_options(CLI::App& command, ReproduceCommand& options) {
  command.add_option("--features", options.features, "Folder with METHOD/DATASET/ARCH/features/*.pth")
      ->type_name("DIR");
  command
      .add_option("--images", options.images,
                  "Folder of data sets (ImageNet, CUB, mini-ImageNet, CIFAR-FS): features that are missing are made of "
                  "them, in --features or the cache")
      ->type_name("DIR");
  command
      .add_option("--network", options.networks,
                  "With --images: networks, by name or ONNX file, that take the place of the paper's")
      ->delimiter(',')
      ->type_name("METHOD/ARCH=NAME,...");
  command.add_option("--only", options.table.only, "Only these features; a part left out or * matches all")
      ->delimiter(',')
      ->type_name("METHOD/DATASET/ARCH,...");
  command.add_option("--shots", options.table.shots, "Only these shots")->delimiter(',')->type_name("K,...");
  command.add_option("--runs", options.table.runs, "Training files per number of shots")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  const std::map<std::string, TableRates> rates{
      {"default", TableRates::kDefault}, {"best", TableRates::kBest}, {"both", TableRates::kBoth}};
  command
      .add_option_function<std::string>(
          "--rates", [&options, rates](const std::string& name) { options.table.rates = rates.at(name); },
          "default: learning rates of the recipe; best: chosen on the test labels, as the paper did; both. "
          "Without it both, and best for table3")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"default", "best", "both"}));
  command.add_option("--episodes", options.table.episodes.episodes, "table3: episodes per seed")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seeds", options.table.episodes.seeds, "table3: seeds")->type_name("N")->capture_default_str();
}

void add_emoji_options(CLI::App& command, EmojiProtocols& options) {
  const auto add = [&](const char* name, auto& value, const char* type, const char* meaning) {
    command.add_option(name, value, meaning)->type_name(type)->capture_default_str()->group("Emoji");
  };
  add("-o,--output", options.folder, "DIR", "Folder for images and results");
  add("--classes", options.classes, "N", "Use only the first N emoji (0: all)");
  add("--ablation-classes", options.ablation_classes, "N", "Number of emoji in the ablations");
  add("--subsets", options.split_count, "N", "Random choices of vendors; the ablations take one more");
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ReproduceCommand>();
  options->table.recipe.recipe = "paper";
  CLI::App& command = *app.add_subcommand("reproduce", "Measure the tables of the paper, beside its figures");
  std::vector<std::string> names = paper_table_names();
  names.emplace_back("emoji");
  command
      .add_option("TABLE", options->table.table,
                  "A table or figure of the paper; emoji: every protocol on emoji, which are downloaded")
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
  add_protocol_options(command, *options);
  add_emoji_options(command, options->emoji);
  add_resume(command, options->resume);
  add_seed(command, options->run, "Seed of the first run");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json,
           "Write the results as JSON (without FILE: to standard output, instead of the table)");
  add_encoder_options(command, options->emoji.encoder, kQuickBackbone);
  command.remove_option(command.get_option("--feature"));  // the paper's features are class tokens
  add_recipe_options(command, options->table.recipe);
  add_example(command,
              "  annulus reproduce table1 --features IbM2_features --only DINO/CUB --noise shared\n"
              "  annulus reproduce table1 --images datasets --only DINO --noise shared\n"
              "  annulus reproduce emoji -o emoji-results");
  command.callback([options, &command, &action] {
    options->table.recipe_of_paper = command.get_option("--recipe")->count() == 0;
    options->seeds_given = command.get_option("--seeds")->count() > 0;
    action = [options] { run_reproduce(*options); };
  });
}

}  // namespace annulus::cli
