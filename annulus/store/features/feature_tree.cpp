// Finds the files of the tree.
#include "annulus/store/features/feature_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {

FeatureTree::FeatureTree(std::filesystem::path root) : root_(std::move(root)) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(root_, ignored)) {
    fail(ErrorKind::kIo, "{}: expected a folder of feature files, found none", root_.string());
  }
}

std::filesystem::path FeatureTree::folder(const PaperFeatures& features) const {
  return root_ / features.pretraining / features.dataset / features.architecture / "features";
}

std::optional<std::filesystem::path> FeatureTree::find(const PaperFeatures& features, const std::string& stem) const {
  for (const char* const extension : {".pth", ".safetensors", ".npz"}) {
    std::filesystem::path path = folder(features) / (stem + extension);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return std::nullopt;
}

std::filesystem::path FeatureTree::place(const PaperFeatures& features, const std::string& stem) const {
  return folder(features) / (stem + ".pth");
}

std::string training_stem(std::size_t shots, std::size_t run) {
  return shots == 0 ? "train_1pt" : fmt::format("train_{}shot_{}", shots, run);
}

TreeFiles find_files(const FeatureTree& tree, const PaperFeatures& features, std::size_t shots, std::size_t runs) {
  TreeFiles files;
  for (std::size_t run = 0; run < (shots == 0 ? std::min<std::size_t>(runs, 1) : runs); ++run) {
    const std::string stem = training_stem(shots, run);
    if (auto path = tree.find(features, stem)) {
      files.training.push_back(std::move(*path));
      files.runs.push_back(run);
    } else {
      files.missing.push_back(tree.place(features, stem));
    }
  }
  files.test = tree.find(features, kTestStem);
  if (!files.test) files.missing.push_back(tree.place(features, kTestStem));
  return files;
}

}  // namespace annulus
