// Reproduces the paper's tables: our values beside the paper's, with differences that are too large marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/metrics/class_gain.h"
#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/eval/protocols/paper_tables.h"
#include "annulus/eval/protocols/run_metadata.h"
#include "annulus/eval/protocols/variant.h"

namespace annulus {

struct ReproduceOptions {
  bool best_rates = true;      // also choose learning rates, and C of the SVM, on the test labels as the paper did
  bool standard_rates = true;  // also measure without test labels; always done where a search has to run anyway
  std::uint64_t seed = 0;      // run i trains with seed + i
  Recipe recipe;               // all numbers that the table does not vary
  EpisodesOptions episodes;    // of table 3, but for shots, methods, recipe and seed
  RunCache<ManyWayRun> cached_runs{};  // finished runs of the other tables that are kept
};

// One of our values beside the paper's.
struct OurNumber {
  double value = 0.0;            // percent
  double deviation = 0.0;        // over the runs; 0 for a single one
  double difference = 0.0;       // ours minus the paper's
  bool outside = false;          // by more than the allowance; false without one
  bool test_labels = false;      // a choice was made on the labels that it is tested on
  std::string chosen;            // that choice: "lr 0.05", "C 10"; empty: none was made
  std::vector<ManyWayRun> runs;  // empty for episodes
  std::vector<double> recall;    // per class, mean over the runs; empty for episodes
};

// One of the values that a choice was made among.
struct Candidate {
  std::string name;  // "lr 0.05"
  double accuracy = 0.0;
};

struct ReproducedCell {
  PaperCell paper;
  std::optional<Allowance> allowance;
  std::optional<OurNumber> best;      // chosen as the paper chose
  std::optional<OurNumber> standard;  // nothing was chosen on test labels
  std::vector<Candidate> candidates;
};

struct GainByShots {
  PaperFeatures features;
  std::size_t shots = 0;
  ClassGain gain;
};

// The cells of a table for one set of features and one number of shots, on the training sets of its runs. Cells that
// differ only in the learning rate are measured once.
std::vector<ReproducedCell> reproduce_cells(std::span<const PaperCell> cells, std::span<const FeatureSet> training,
                                            const FeatureSet& test, const ReproduceOptions& options,
                                            RunCounter& counter);
// The number of runs that this takes, for progress.
std::size_t count_runs(std::span<const PaperCell> cells, std::size_t splits, const ReproduceOptions& options);

// The cells of table 3 for one set of features and one number of shots.
std::vector<ReproducedCell> reproduce_episodes(std::span<const PaperCell> cells, const FeatureSet& novel,
                                               const ReproduceOptions& options, const ProgressCallback& progress);

// Figure 3 for one number of shots, from the cells of its two methods; empty when one of them is missing.
std::optional<GainByShots> gain_of(std::span<const ReproducedCell> cells);

// A row of a table whose feature files are incomplete.
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
  std::size_t compared() const;  // our values that have an allowance
  std::size_t outside() const;
};

}  // namespace annulus
