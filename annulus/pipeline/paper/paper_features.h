// Makes the feature files of the paper's tables from images: the paper's networks, preprocessing and sampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "annulus/eval/protocols/paper_tables.h"
#include "annulus/pipeline/load.h"
#include "annulus/store/features/feature_tree.h"

namespace annulus {

// Feature files of one row that are to be made, by their stems ("train_5shot_0", "train_1pt", "test", "novel").
struct WantedFeatures {
  PaperFeatures features;
  std::vector<std::string> stems;

  bool operator==(const WantedFeatures&) const = default;
};

struct PaperImageOptions {
  std::filesystem::path root;  // the data sets lie below it, in folders that dataset_folders names
  std::uint64_t seed = 0;      // training images of run i are sampled with seed + i
  // Networks that take the place of the paper's: "METHOD/ARCH" or "METHOD/DATASET/ARCH" to a name or an ONNX file.
  std::map<std::string, std::string> networks;
  EncoderOptions encoder;       // a backbone or a preprocessing takes the place of the paper's in all rows
  int threads = 0;              // 0: all processors
  double first_fraction = 0.0;  // as ExtractOptions has it
  ProgressCallback progress{};
  NoteCallback note{};  // hears which row cannot be made, and why
};

// A folder of the cache for the features of these images, sampled and encoded like this.
std::filesystem::path made_features_folder(const PaperImageOptions& options);

// The files that the cells need (table 3: `episodes`) and the tree lacks, in the order of the cells.
std::vector<WantedFeatures> missing_features(const std::vector<PaperCell>& cells, const FeatureTree& tree,
                                             std::size_t runs, bool episodes);

// Makes these files in the tree, as .safetensors; each appears when it is complete. The k-shot set of a run is a part
// of its sets of more shots, so that few images need to be encoded. Rows whose data set is not below the root, or whose
// network cannot be had, are left out, which `note` hears. Throws Error for damaged lists, and as extract does.
void make_paper_features(const std::vector<WantedFeatures>& wanted, const FeatureTree& tree,
                         const PaperImageOptions& options);

}  // namespace annulus
