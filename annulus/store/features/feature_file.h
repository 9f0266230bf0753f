// Reads and writes feature files: reads every supported format, writes safetensors and npz.
#pragma once

#include <filesystem>

#include "annulus/store/formats/block_source.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct ReadOptions {
  // Labels for a file that holds only features: a .npy array, or text with one label per line. Empty: for
  // X_features.npy a neighbour X_labels.npy or X_targets.npy is used if it exists (labels.npy, targets.npy for
  // features.npy).
  std::filesystem::path labels{};
  bool verify = true;  // a safetensors file that has a checksum must match it, which takes reading all of it
};

// Reads .npz, .safetensors, .npy, .csv, LIBSVM text (.svm, .libsvm, .txt) and tensors that PyTorch saved (.pth, .pt),
// known by content where the format has a signature and by name otherwise. float32 and float16 rows of .safetensors and
// .npy stay in the mapped file. Layouts: docs/reference/file-formats.md. Throws Error: kIo, kFormat for damaged files,
// kInput for unusable data.
FeatureSet read_features(const std::filesystem::path& path, const ReadOptions& options = {});

struct WriteOptions {
  FeatureType type = FeatureType::kFloat32;  // float16 halves the file and rounds to 11 significant bits
  bool compress = false;                     // .npz only: deflate; real features compress little
};

// Writes .safetensors or .npz, by the name's extension; the file appears whole or not at all. The set may be mapped
// from the file that is replaced. Memory: a few mebibytes beside the set, and the paths once more as text.
void write_features(const FeatureSet& set, const std::filesystem::path& path, const WriteOptions& options = {});

}  // namespace annulus
