// The numbers of the paper that IbM2 comes from (its title is in PaperTable::source), to hold ours against.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// share/paper_tables.json, compiled in.
extern const char* const kPaperTablesText;

// Where features came from, spelled as the folders of the published feature files.
struct PaperFeatures {
  std::string pretraining;   // "DINO"
  std::string dataset;       // "Imagenet", "CUB", "Imagenet_1pt"
  std::string architecture;  // "deit_small_p16"

  bool operator==(const PaperFeatures&) const = default;
};

// How the learning rate behind a number of the paper was chosen.
enum class PaperRate {
  kBest,      // the best of ten on the test labels
  kStandard,  // the method's default
  kEpisodes,  // the best of six on 20 further episodes
};

struct PaperCell {
  PaperFeatures features;
  std::string method;             // "baseline", "ibm2", "svm"
  std::size_t shots = 0;          // 0: the list of 1 %
  std::size_t virtual_count = 0;  // R where the table varies it, else 0
  std::string noise_shape;        // where the table varies it, else empty
  std::string metric;             // "accuracy", or one of the episodes' "acc_m", "sigma", "acc_1", "acc_10", "acc_100"
  PaperRate rate = PaperRate::kBest;
  double value = 0.0;               // percent
  std::optional<double> deviation;  // standard deviation, where the paper gives one
};

struct PaperTable {
  std::string name;              // "table1"
  std::string title;             // what it shows
  std::string source;            // the paper and the table's number in it
  std::string note;              // what has to be said beside it; may be empty
  std::vector<PaperCell> cells;  // of figure 3: the accuracies of its two methods in table 1
};

// "table1" to "table7" and "figure3".
const std::vector<std::string>& paper_table_names();
PaperTable paper_table(std::string_view name);  // throws Error{kUsage} listing the names
// The paper's name of an architecture: "ViT-S/16".
std::string backbone_name(const std::string& architecture);

// How far from a number of the paper one of ours may lie before it is marked.
struct Allowance {
  double half_width = 0.0;
  std::string basis;  // what it was made from, in words
};

// Two standard deviations, and what rounding to one decimal may hide. Where the paper gives no deviation, that of table
// 1 for the same features, shots and method stands in; on the list of 1 %, which is not drawn anew, it is 0.5 points,
// the difference from which on the paper prints in bold; for means over episodes it is made from their sigma. None for
// the worst episodes, of whose spread the paper says nothing.
std::optional<Allowance> allowance_of(const PaperCell& cell, std::size_t episodes = 2500);

}  // namespace annulus
