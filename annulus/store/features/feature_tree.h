// A tree of feature files laid out as the paper's authors published theirs:
//   METHOD/DATASET/ARCHITECTURE/features/{train_{k}shot_{run}, train_1pt, test, novel}.{pth, safetensors, npz}
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "annulus/eval/protocols/paper_tables.h"

namespace annulus {

class FeatureTree {
 public:
  // Throws Error{kIo} if `root` is not a folder.
  explicit FeatureTree(std::filesystem::path root);

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path folder(const PaperFeatures& features) const;
  // The file with that stem, in any format; the authors' own (.pth) first.
  std::optional<std::filesystem::path> find(const PaperFeatures& features, const std::string& stem) const;
  // Where it would belong: the name that the authors gave it.
  std::filesystem::path place(const PaperFeatures& features, const std::string& stem) const;

 private:
  std::filesystem::path root_;
};

// Stem of a training file: "train_5shot_0", or "train_1pt" for shots 0.
std::string training_stem(std::size_t shots, std::size_t run);
inline constexpr const char* kTestStem = "test";
inline constexpr const char* kNovelStem = "novel";  // examples for episodes; the authors published none

// The files for one number of shots of one set of features.
struct TreeFiles {
  std::vector<std::filesystem::path> training;  // of the existing runs
  std::vector<std::size_t> runs;                // their numbers
  std::optional<std::filesystem::path> test;
  std::vector<std::filesystem::path> missing;

  bool usable() const { return test.has_value() && !training.empty(); }
};

// `runs` training files and the test file; shots 0 has one list only.
TreeFiles find_files(const FeatureTree& tree, const PaperFeatures& features, std::size_t shots, std::size_t runs);

}  // namespace annulus
