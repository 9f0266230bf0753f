// The paper's tables on features of the same kind: our numbers, the paper's beside them, and what differs by too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/class_gain.h"
#include "annulus/eval/episodes.h"
#include "annulus/eval/many_way.h"
#include "annulus/eval/paper_tables.h"
#include "annulus/eval/stamp.h"
#include "annulus/eval/variant.h"

namespace annulus {

struct ReproduceOptions {
  bool best_rates = true;  // also choose learning rates, and the cost of the SVM, on the test labels as the paper did
  bool standard_rates = true;  // what nobody needs test labels for; always measured where a search has to run anyway
  std::uint64_t seed = 0;      // run i trains with seed + i
  Recipe recipe;               // all numbers that the table does not vary
  EpisodesOptions episodes;    // of table 3, but for shots, methods, recipe and seed
  CellStore cells{};           // finished runs that are kept
};

// One of our numbers beside one of the paper's.
struct OurNumber {
  double value = 0.0;            // percent
  double deviation = 0.0;        // over the runs; 0 for a single one
  double difference = 0.0;       // ours less the paper's
  bool outside = false;          // by more than the allowance; false where there is none
  bool test_labels = false;      // a choice behind it was made on labels of the rows it is tested on
  std::string chosen;            // that choice: "lr 0.05", "C 10"; empty: none was made
  std::vector<ManyWayRun> runs;  // empty for episodes
  std::vector<double> recall;    // of each class, mean over the runs; empty for episodes
};

// What a choice was made among.
struct Candidate {
  std::string name;  // "lr 0.05"
  double accuracy = 0.0;
};

struct ReproducedCell {
  PaperCell paper;
  std::optional<Allowance> allowance;
  std::optional<OurNumber> best;      // chosen as the paper chose
  std::optional<OurNumber> standard;  // nothing chosen on labels that are tested on
  std::vector<Candidate> candidates;
};

struct GainByShots {
  PaperFeatures features;
  std::size_t shots = 0;
  ClassGain gain;
};

// The cells of a table for one set of features and one number of shots, on the training sets of its runs. Cells that
// differ in nothing but the rate are measured once.
std::vector<ReproducedCell> reproduce_cells(std::span<const PaperCell> cells, std::span<const FeatureSet> training,
                                            const FeatureSet& test, const ReproduceOptions& options,
                                            RunCounter& counter);
// Runs that it takes, for the counter.
std::size_t count_runs(std::span<const PaperCell> cells, std::size_t draws, const ReproduceOptions& options);

// The cells of table 3 for one set of features and one number of shots.
std::vector<ReproducedCell> reproduce_episodes(std::span<const PaperCell> cells, const FeatureSet& novel,
                                               const ReproduceOptions& options, const ProgressCallback& progress);

// Figure 3 for one number of shots, from the cells of its two methods; none when one of them is missing.
std::optional<GainByShots> gain_of(std::span<const ReproducedCell> cells);

// A row of features whose files are not all there.
struct MissingFiles {
  PaperFeatures features;
  std::vector<std::string> files;
};

struct ReproduceReport {
  PaperTable table;
  std::vector<ReproducedCell> cells;
  std::vector<GainByShots> gains;  // figure 3
  std::vector<MissingFiles> missing;

  bool uses_test_labels() const;
  std::size_t compared() const;  // numbers of ours with an allowance
  std::size_t outside() const;
};

struct TextStyle {
  bool colour = false;  // escape codes of a terminal
};

// What the table shows and where the paper's numbers are from, and the names of the columns.
std::string reproduce_head(const PaperTable& table, const ReproduceOptions& options, const TextStyle& style);
// One line a cell; of episodes one line a method and number of shots, and one below it for the paper's.
std::string reproduce_lines(std::span<const ReproducedCell> cells, const TextStyle& style);
// The bins of one number of shots.
std::string gain_lines(const GainByShots& gain);
// How many numbers lie outside, the missing files, and what was chosen on test labels.
std::string reproduce_foot(const ReproduceReport& report, const TextStyle& style);

// {"protocol": "reproduce", "table", "paper", "options", "stamp", "results": [{"pretraining", "dataset",
// "architecture", "method", "shots", "accuracy_mean", "accuracy_std", "paper_mean", "paper_std", "difference", "runs",
// ...}], "missing"}.
std::string reproduce_json(const ReproduceReport& report, const ReproduceOptions& options,
                           const std::string& features_folder, const Stamp& stamp);

}  // namespace annulus
