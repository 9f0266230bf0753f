// annulus reproduce: the tables of the paper on the authors' feature files, or on one's own in the same tree.
#include "annulus/eval/protocols/reproduce.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/pipeline/paper_features.h"
#include "annulus/report/tables/reproduce_report.h"
#include "annulus/store/features/feature_file.h"
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
  std::string table;
  std::string features;
  std::string images;
  std::vector<std::string> networks;  // METHOD/ARCH=NAME
  std::vector<std::string> only;
  std::vector<std::size_t> shots;
  std::size_t runs = 3;
  std::string rates;  // empty: as the paper
  EpisodesOptions episodes;
  std::string json;
  std::string resume;
  RunOptions run;
  RecipeOptions recipe;
  bool recipe_given = false;
  EmojiProtocols emoji;
  bool seeds_given = false;
};

// Whether METHOD/DATASET/ARCH fits a pattern of up to three parts; a part left out or * fits everything.
bool fits(const PaperFeatures& features, const std::string& pattern) {
  std::istringstream parts(pattern);
  for (const std::string& name : {features.pretraining, features.dataset, features.architecture}) {
    std::string part;
    if (!std::getline(parts, part, '/')) return true;
    if (part != "*" && part != name) return false;
  }
  return parts.peek() == std::istringstream::traits_type::eof();
}

bool wanted(const PaperCell& cell, const ReproduceCommand& options) {
  const bool shots =
      options.shots.empty() || std::find(options.shots.begin(), options.shots.end(), cell.shots) != options.shots.end();
  const bool features =
      options.only.empty() || std::any_of(options.only.begin(), options.only.end(),
                                          [&](const std::string& pattern) { return fits(cell.features, pattern); });
  return shots && features;
}

PaperTable wanted_table(const ReproduceCommand& options) {
  PaperTable table = paper_table(options.table);
  std::erase_if(table.cells, [&](const PaperCell& cell) { return !wanted(cell, options); });
  if (table.cells.empty()) {
    fail(ErrorKind::kUsage, "{} has no row that fits --only \"{}\" and --shots \"{}\"", options.table,
         fmt::join(options.only, ","), fmt::join(options.shots, ","));
  }
  return table;
}

// All cells of one set of features and one number of shots, with the files that they need.
struct Unit {
  std::vector<PaperCell> cells;
  TreeFiles files;
};

void add_missing(const PaperFeatures& features, const TreeFiles& files, std::vector<MissingFiles>& missing) {
  if (files.missing.empty()) return;
  if (missing.empty() || !(missing.back().features == features)) missing.push_back({features, {}});
  for (const auto& file : files.missing) {
    const std::string path = file.string();
    auto& known = missing.back().files;
    if (std::find(known.begin(), known.end(), path) == known.end()) known.push_back(path);
  }
}

// In the order of the table: features, then shots.
std::vector<Unit> units_of(const PaperTable& table, const FeatureTree& tree, std::size_t runs,
                           std::vector<MissingFiles>& missing) {
  std::vector<Unit> units;
  std::vector<PaperCell> left = table.cells;
  while (!left.empty()) {
    const PaperFeatures features = left.front().features;
    std::vector<std::size_t> all_shots;
    for (const PaperCell& cell : left) {
      const bool known = std::find(all_shots.begin(), all_shots.end(), cell.shots) != all_shots.end();
      if (cell.features == features && !known) all_shots.push_back(cell.shots);
    }
    for (const std::size_t shots : all_shots) {
      Unit unit;
      std::copy_if(left.begin(), left.end(), std::back_inserter(unit.cells),
                   [&](const PaperCell& cell) { return cell.features == features && cell.shots == shots; });
      if (table.name == "table3") {
        unit.files.test = tree.find(features, kNovelStem);
        if (!unit.files.test) unit.files.missing.push_back(tree.place(features, kNovelStem));
      } else {
        unit.files = find_files(tree, features, shots, runs);
      }
      add_missing(features, unit.files, missing);
      if (table.name == "table3" ? unit.files.test.has_value() : unit.files.usable()) units.push_back(std::move(unit));
    }
    std::erase_if(left, [&](const PaperCell& cell) { return cell.features == features; });
  }
  return units;
}

void check_options(const ReproduceCommand& options) {
  if (options.features.empty() && options.images.empty()) {
    fail(ErrorKind::kUsage, "{} expects --features DIR or --images DIR, found none", options.table);
  }
  if (options.images.empty() && (!options.networks.empty() || !options.emoji.encoder.backbone.empty())) {
    fail(ErrorKind::kUsage, "a network is of use with --images DIR, found --features alone");
  }
  if (!options.shots.empty() && (options.table == "table2" || options.table == "table7")) {
    fail(ErrorKind::kUsage, "{} is of one list of images, so --shots says nothing", options.table);
  }
  if (const auto& metric = options.recipe.metric; metric && *metric != "none" && *metric != "data") {
    fail(ErrorKind::kUsage, "the paper's tables know no backbone's metric: expected --metric none or data, found {}",
         *metric);
  }
  if (options.recipe.virtual_count && options.table == "table5") {
    fail(ErrorKind::kUsage, "table5 varies R itself, so --virtual cannot set it");
  }
  if (options.recipe.noise_shape && options.table == "table6") {
    fail(ErrorKind::kUsage, "table6 varies the shape of the noise itself, so --noise-shape cannot set it");
  }
}

// The recipe of the paper that fits, unless the user named one.
Recipe recipe_for(const ReproduceCommand& options, const std::string& architecture) {
  RecipeOptions recipe = options.recipe;
  if (!options.recipe_given) {
    recipe.recipe = options.table == "table3" ? "episodes" : architecture == "resnet50" ? "paper-resnet50" : "paper";
  }
  return make_recipe(recipe, options.run.seed, options.run.threads);
}

ReproduceOptions protocol_of(const ReproduceCommand& options, const std::string& architecture,
                             RunCacheFile* cache = nullptr) {
  ReproduceOptions protocol;
  if (cache != nullptr) protocol.cached_runs = cache->runs();
  const bool figure = options.table == "figure3";
  protocol.best_rates = !figure && options.rates != "default";
  protocol.standard_rates = figure || (options.rates.empty() ? options.table != "table3" : options.rates != "best");
  protocol.seed = options.run.seed;
  protocol.recipe = recipe_for(options, architecture);
  protocol.episodes = options.episodes;
  if (cache != nullptr) protocol.episodes.cached_runs = cache->seeds();
  protocol.episodes.threads = options.run.threads;
  return protocol;
}

std::vector<ReproducedCell> run_unit(const ReproduceCommand& options, const Unit& unit, const FeatureSet& test,
                                     RunCacheFile* cache, RunCounter& counter, const ProgressCallback& progress) {
  const ReproduceOptions protocol = protocol_of(options, unit.cells.front().features.architecture, cache);
  if (options.table == "table3") return reproduce_episodes(unit.cells, test, protocol, progress);
  std::vector<FeatureSet> training;
  for (const auto& path : unit.files.training) training.push_back(read_features(path));
  return reproduce_cells(unit.cells, training, test, protocol, counter);
}

void measure_units(const ReproduceCommand& options, const std::vector<Unit>& units, const TextStyle& style,
                   ReproduceReport& report) {
  const std::unique_ptr<RunCacheFile> finished = open_run_cache(options.resume);
  ProgressBar bar(options.run.quiet);
  const ProgressCallback progress = bar.callback();
  std::size_t runs = 0;
  for (const Unit& unit : units) {
    runs += count_runs(unit.cells, unit.files.training.size(),
                       protocol_of(options, unit.cells.front().features.architecture));
  }
  RunCounter counter(progress, runs);
  std::filesystem::path test_path;
  FeatureSet test;
  for (const Unit& unit : units) {
    if (*unit.files.test != test_path) {
      test_path = *unit.files.test;
      annulus::report(progress, {"read " + test_path.string(), 0, 0, {}});
      test = FeatureSet();  // two large sets need not be in memory together
      test = read_features(test_path);
    }
    const auto cells = run_unit(options, unit, test, finished.get(), counter, progress);
    bar.clear();
    std::string lines = reproduce_lines(cells, style);
    if (options.table == "figure3") {
      if (auto gain = gain_of(cells)) {
        lines += gain_lines(*gain);
        report.gains.push_back(std::move(*gain));
      }
    }
    if (options.json != "-") write_output("-", lines);
    std::fflush(stdout);
    report.cells.insert(report.cells.end(), cells.begin(), cells.end());
  }
}

RunMetadata metadata_of(const ReproduceCommand& options, const ReproduceReport& report) {
  std::vector<std::string> methods;
  for (const ReproducedCell& cell : report.cells) {
    if (std::find(methods.begin(), methods.end(), cell.paper.method) == methods.end()) {
      methods.push_back(cell.paper.method);
    }
  }
  RunMetadata metadata = make_run_metadata(methods, {}, options.run.seed, options.runs, options.run.threads);
  metadata.test_labels_used = report.uses_test_labels();
  if (metadata.test_labels_used) {
    metadata.chosen_on["numbers whose choice is best"] = options.table == "table3"
                                                             ? "learning rate on 20 further episodes of the TEST rows"
                                                             : "learning rate (svm: C) on the TEST labels";
  }
  return metadata;
}

void run_emoji(const ReproduceCommand& options) {
  if (!options.features.empty() || !options.images.empty() || !options.only.empty() || !options.json.empty() ||
      !options.resume.empty()) {
    fail(ErrorKind::kUsage,
         "emoji fetches its own data and writes into --output: it takes no --features, --images, --only, --json, "
         "--resume");
  }
  EmojiProtocols protocols = options.emoji;
  RecipeOptions recipe = options.recipe;
  if (!options.recipe_given) recipe.recipe = "ibm2";
  protocols.recipe = make_recipe(recipe, options.run.seed, options.run.threads);
  if (!options.recipe_given) recipe.recipe = "episodes";
  protocols.episodes_recipe = make_recipe(recipe, options.run.seed, options.run.threads);
  if (!options.shots.empty()) protocols.shots = options.shots;
  protocols.episodes = options.episodes.episodes;
  if (options.seeds_given) protocols.seeds = options.episodes.seeds;
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

// A folder of the cache for the features of these images, sampled and encoded like this.
std::string made_features_folder(const ReproduceCommand& options) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", std::filesystem::absolute(options.images).string(), options.run.seed,
                  fmt::join(options.networks, " "), options.emoji.encoder.backbone, options.emoji.encoder.preprocess);
  return cache_folder() / "reproduce" / sha256_hex(std::as_bytes(std::span(text))).substr(0, 16);
}

// Encodes what the table needs and the tree lacks.
void make_features(const ReproduceCommand& options, const PaperTable& table) {
  std::filesystem::create_directories(options.features);
  const FeatureTree tree(options.features);
  const auto missing = missing_features(table.cells, tree, options.runs, table.name == "table3");
  if (missing.empty()) return;
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
  bar.note(fmt::format("features are made in {}", options.features));
  make_paper_features(missing, tree, making);
}

void run_reproduce(ReproduceCommand options) {
  if (options.table == "emoji") return run_emoji(options);
  check_options(options);
  ReproduceReport report;
  report.table = wanted_table(options);
  if (!options.images.empty()) {
    if (options.features.empty()) options.features = made_features_folder(options);
    make_features(options, report.table);
  }
  const FeatureTree tree(options.features);
  const std::vector<Unit> units = units_of(report.table, tree, options.runs, report.missing);
  const TextStyle style{isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr};
  const ReproduceOptions protocol = protocol_of(options, report.table.cells.front().features.architecture);
  const bool text = options.json != "-";
  if (text) write_output("-", reproduce_head(report.table, protocol, style));
  std::fflush(stdout);
  measure_units(options, units, style, report);
  if (text) write_output("-", reproduce_foot(report, style));
  std::fflush(stdout);
  if (!options.json.empty()) {
    write_output(options.json, reproduce_json(report, protocol, options.features, metadata_of(options, report)));
  }
  if (units.empty()) {
    fail(ErrorKind::kInput, "{}: found none of the files that {} needs; the list says which belong where",
         options.features, options.table);
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
  command.add_option("--only", options.only, "Only these features; a part left out or * matches all")
      ->delimiter(',')
      ->type_name("METHOD/DATASET/ARCH,...");
  command.add_option("--shots", options.shots, "Only these shots")->delimiter(',')->type_name("K,...");
  command.add_option("--runs", options.runs, "Training files per number of shots")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command
      .add_option("--rates", options.rates,
                  "default: learning rates of the recipe; best: chosen on the test labels, as the paper did; both. "
                  "Without it both, and best for table3")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"default", "best", "both"}));
  command.add_option("--episodes", options.episodes.episodes, "table3: episodes per seed")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seeds", options.episodes.seeds, "table3: seeds")->type_name("N")->capture_default_str();
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
  options->recipe.recipe = "paper";
  CLI::App& command = *app.add_subcommand("reproduce", "Measure the tables of the paper, beside its figures");
  std::vector<std::string> names = paper_table_names();
  names.emplace_back("emoji");
  command
      .add_option("TABLE", options->table,
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
  add_recipe_options(command, options->recipe);
  add_example(command,
              "  annulus reproduce table1 --features IbM2_features --only DINO/CUB --noise shared\n"
              "  annulus reproduce table1 --images datasets --only DINO --noise shared\n"
              "  annulus reproduce emoji -o emoji-results");
  command.callback([options, &command, &action] {
    options->recipe_given = command.get_option("--recipe")->count() > 0;
    options->seeds_given = command.get_option("--seeds")->count() > 0;
    action = [options] { run_reproduce(*options); };
  });
}

}  // namespace annulus::cli
