// A table of the paper, measured on a tree of feature files: which rows, on which files, by which recipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/protocols/reproduce.h"
#include "annulus/eval/protocols/run_metadata.h"
#include "annulus/learn/method/recipe_options.h"
#include "annulus/store/features/feature_tree.h"
#include "annulus/store/results/run_cache_file.h"

namespace annulus {

inline constexpr const char* kEpisodesTable = "table3";  // of episodes; the others are of all classes at once

// Which learning rates are measured.
enum class TableRates {
  kAsPaper,  // both; for table 3 the best alone
  kDefault,  // those of the recipe
  kBest,     // those chosen on the test labels, as the paper chose
  kBoth,
};

struct TableOptions {
  std::string table;                 // one of paper_table_names()
  std::vector<std::string> only{};   // METHOD/DATASET/ARCH; a part left out or * matches all; empty: all rows
  std::vector<std::size_t> shots{};  // empty: all
  std::size_t runs = 3;              // training files per number of shots
  TableRates rates = TableRates::kAsPaper;
  bool recipe_of_paper = true;  // the one that fits the table and the network, in place of recipe.recipe
  RecipeOptions recipe{};       // what it overrides
  EpisodesOptions episodes{};   // of table 3, but for shots, methods, recipe and seed
  std::uint64_t seed = 0;
  int threads = 0;  // 0: all processors
};

// The rows that the options choose. Throws Error{kUsage} where there are none, and for options that contradict the
// table.
PaperTable chosen_table(const TableOptions& options);

// How the rows of one architecture are measured.
ReproduceOptions protocol_of(const TableOptions& options, const std::string& architecture);

// Hears the cells of one set of features and one number of shots as soon as they are measured, and figure 3's bins.
using CellsCallback = std::function<void(std::span<const ReproducedCell> cells, const GainByShots* gain)>;

// Measures the rows whose files are in the tree; the report lists the files that others lack. Finished runs are kept in
// `finished`, which may be null. Throws as read_features does, and Error{kCancelled}.
ReproduceReport reproduce_table(PaperTable table, const FeatureTree& tree, const TableOptions& options,
                                RunCacheFile* finished, const ProgressCallback& progress, const CellsCallback& heard);

// How the report was made.
RunMetadata metadata_of(const ReproduceReport& report, const TableOptions& options);

}  // namespace annulus
