// The results of the paper that describes IbM2 (its title is in PaperTable::source), for comparison with ours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// share/paper_tables.json, compiled in.
extern const char* const kPaperTablesText;

// The origin of features, spelled as the folders of the published feature files.
struct PaperFeatures {
  std::string pretraining;   // "DINO"
  std::string dataset;       // "Imagenet", "CUB", "Imagenet_1pt"
  std::string architecture;  // "deit_small_p16"

  bool operator==(const PaperFeatures&) const = default;
};

// How the learning rate of a result of the paper was chosen.
enum class PaperRate {
  kBest,      // the best of ten on the test labels
  kStandard,  // the method's default
  kEpisodes,  // the best of six on 20 further episodes
};

struct PaperCell {
  PaperFeatures features;
  std::string method;             // "baseline", "ibm2", "svm"
  std::size_t shots = 0;          // 0: the 1 % list
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
  std::string note;              // a remark to print with the table; may be empty
  std::vector<PaperCell> cells;  // for figure 3: the accuracies of its two methods in table 1
};

// "table1" to "table7" and "figure3".
const std::vector<std::string>& paper_table_names();
PaperTable paper_table(std::string_view name);  // throws Error{kUsage} listing the names
// The paper's name of an architecture: "ViT-S/16".
std::string backbone_name(const std::string& architecture);

// What makes the features of a row from images.
struct PaperNetwork {
  std::string name;           // as backbones are named, "dino-vits16"; empty: the paper's tables name none
  std::string preprocessing;  // a preset: how the paper resized and cropped
};
PaperNetwork paper_network(const PaperFeatures& features);

// The largest difference between our value and the paper's that is not marked.
struct Allowance {
  double half_width = 0.0;
  std::string basis;  // how it was derived, for people
};

// Two standard deviations plus the rounding to one decimal. Where the paper gives no deviation, that of table 1 for the
// same features, shots and method is used. For the 1 % list, which has a single split, it is 0.5 points, the difference
// from which the paper prints bold. For means over episodes it is derived from their sigma. None for the worst
// episodes, whose spread the paper does not give.
std::optional<Allowance> allowance_of(const PaperCell& cell, std::size_t episodes = 2500);

}  // namespace annulus
