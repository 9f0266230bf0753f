// Gathers the cells that share their files, and measures them together.
#include "annulus/pipeline/paper/reproduce_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/files/machine.h"

namespace annulus {
namespace {

constexpr const char* kGainFigure = "figure3";

// Whether METHOD/DATASET/ARCH fits a pattern of up to three parts; a part left out or * fits everything.
bool fits_pattern(const PaperFeatures& features, const std::string& pattern) {
  std::istringstream parts(pattern);
  for (const std::string& name : {features.pretraining, features.dataset, features.architecture}) {
    std::string part;
    if (!std::getline(parts, part, '/')) return true;
    if (part != "*" && part != name) return false;
  }
  return parts.peek() == std::istringstream::traits_type::eof();
}

bool is_wanted(const PaperCell& cell, const TableOptions& options) {
  const bool shots =
      options.shots.empty() || std::find(options.shots.begin(), options.shots.end(), cell.shots) != options.shots.end();
  const bool features = options.only.empty() ||
                        std::any_of(options.only.begin(), options.only.end(),
                                    [&](const std::string& pattern) { return fits_pattern(cell.features, pattern); });
  return shots && features;
}

void check_table_options(const TableOptions& options) {
  if (!options.shots.empty() && (options.table == "table2" || options.table == "table7")) {
    fail_field(ErrorKind::kUsage, "shots", "expected no {} for {}, which is of one list of images, found {}",
               options.table, fmt::join(options.shots, ","));
  }
  if (const auto& metric = options.recipe.metric; metric && *metric != "none" && *metric != "data") {
    fail_field(ErrorKind::kUsage, "metric",
               "expected {} to be none or data, as the paper's tables know no backbone's metric, found {}", *metric);
  }
  if (options.recipe.virtual_count && options.table == "table5") {
    fail_field(ErrorKind::kUsage, "virtual_count", "expected no {} for table5, which varies R itself, found {}",
               *options.recipe.virtual_count);
  }
  if (options.recipe.noise_shape && options.table == "table6") {
    fail_field(ErrorKind::kUsage, "noise_shape",
               "expected no {} for table6, which varies the shape of the noise itself, found {}",
               *options.recipe.noise_shape);
  }
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

TreeFiles files_of(const FeatureTree& tree, const PaperFeatures& features, std::size_t shots,
                   const TableOptions& options) {
  if (options.table != kEpisodesTable) return find_files(tree, features, shots, options.runs);
  TreeFiles files;
  files.test = tree.find(features, kNovelStem);
  if (!files.test) files.missing.push_back(tree.place(features, kNovelStem));
  return files;
}

// In the order of the table: features, then shots.
std::vector<Unit> units_of(const PaperTable& table, const FeatureTree& tree, const TableOptions& options,
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
      Unit unit{{}, files_of(tree, features, shots, options)};
      std::copy_if(left.begin(), left.end(), std::back_inserter(unit.cells),
                   [&](const PaperCell& cell) { return cell.features == features && cell.shots == shots; });
      add_missing(features, unit.files, missing);
      const bool usable = options.table == kEpisodesTable ? unit.files.test.has_value() : unit.files.usable();
      if (usable) units.push_back(std::move(unit));
    }
    std::erase_if(left, [&](const PaperCell& cell) { return cell.features == features; });
  }
  return units;
}

ReproduceOptions protocol_of(const TableOptions& options, const Unit& unit, RunCacheFile* finished) {
  ReproduceOptions protocol = annulus::protocol_of(options, unit.cells.front().features.architecture);
  if (finished != nullptr) {
    protocol.cached_runs = finished->runs();
    protocol.episodes.cached_runs = finished->seeds();
  }
  return protocol;
}

std::vector<ReproducedCell> measure_unit(const TableOptions& options, const Unit& unit, const FeatureSet& test,
                                         RunCacheFile* finished, RunCounter& counter,
                                         const ProgressCallback& progress) {
  const ReproduceOptions protocol = protocol_of(options, unit, finished);
  if (options.table == kEpisodesTable) return reproduce_episodes(unit.cells, test, protocol, progress);
  std::vector<FeatureSet> training;
  for (const auto& path : unit.files.training) training.push_back(read_features(path));
  return reproduce_cells(unit.cells, training, test, protocol, counter);
}

}  // namespace

PaperTable chosen_table(const TableOptions& options) {
  check_table_options(options);
  PaperTable table = paper_table(options.table);
  std::erase_if(table.cells, [&](const PaperCell& cell) { return !is_wanted(cell, options); });
  if (table.cells.empty()) {
    fail(ErrorKind::kUsage, "{} has no row that fits the features \"{}\" and the shots \"{}\"", options.table,
         fmt::join(options.only, ","), fmt::join(options.shots, ","));
  }
  return table;
}

ReproduceOptions protocol_of(const TableOptions& options, const std::string& architecture) {
  const bool episodes = options.table == kEpisodesTable;
  const bool figure = options.table == kGainFigure;
  RecipeOptions recipe = options.recipe;
  if (options.recipe_of_paper) {
    recipe.recipe = episodes ? "episodes" : architecture == "resnet50" ? "paper-resnet50" : "paper";
  }
  ReproduceOptions protocol;
  protocol.best_rates = !figure && options.rates != TableRates::kDefault;
  protocol.standard_rates =
      figure || (options.rates == TableRates::kAsPaper ? !episodes : options.rates != TableRates::kBest);
  protocol.seed = options.seed;
  protocol.recipe = make_recipe(recipe, options.seed, options.threads);
  protocol.episodes = options.episodes;
  protocol.episodes.threads = options.threads;
  return protocol;
}

ReproduceReport reproduce_table(PaperTable table, const FeatureTree& tree, const TableOptions& options,
                                RunCacheFile* finished, const ProgressCallback& progress, const CellsCallback& heard) {
  ReproduceReport result;
  result.table = std::move(table);
  const std::vector<Unit> units = units_of(result.table, tree, options, result.missing);
  std::size_t runs = 0;
  for (const Unit& unit : units) {
    runs += count_runs(unit.cells, unit.files.training.size(), protocol_of(options, unit, nullptr));
  }
  RunCounter counter(progress, runs);
  std::filesystem::path test_path;
  FeatureSet test;
  for (const Unit& unit : units) {
    if (*unit.files.test != test_path) {
      test_path = *unit.files.test;
      report(progress, {"read " + test_path.string(), 0, 0, {}});
      test = FeatureSet();  // two large sets need not be in memory together
      test = read_features(test_path);
    }
    const auto cells = measure_unit(options, unit, test, finished, counter, progress);
    std::optional<GainByShots> gain = options.table == kGainFigure ? gain_of(cells) : std::nullopt;
    if (heard) heard(cells, gain ? &*gain : nullptr);
    result.cells.insert(result.cells.end(), cells.begin(), cells.end());
    if (gain) result.gains.push_back(std::move(*gain));
  }
  return result;
}

RunMetadata metadata_of(const ReproduceReport& report, const TableOptions& options) {
  std::vector<std::string> methods;
  for (const ReproducedCell& cell : report.cells) {
    if (std::find(methods.begin(), methods.end(), cell.paper.method) == methods.end()) {
      methods.push_back(cell.paper.method);
    }
  }
  RunMetadata metadata = make_run_metadata(methods, {}, options.seed, options.runs, options.threads);
  metadata.test_labels_used = report.uses_test_labels();
  if (metadata.test_labels_used) {
    metadata.chosen_on["numbers whose choice is best"] = options.table == kEpisodesTable
                                                             ? "learning rate on 20 further episodes of the TEST rows"
                                                             : "learning rate (svm: C) on the TEST labels";
  }
  return metadata;
}

}  // namespace annulus
