// The feature formats behind feature_file.h; each works from bytes in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "annulus/store/features/feature_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/task/feature_set.h"

namespace annulus {

FeatureSetParts npz_features(const FileBytes& bytes);
// `verify`: a checksum that the file has must match.
FeatureSetParts safetensors_features(const FileBytes& bytes, bool verify);
FeatureSetParts csv_features(const FileBytes& file);
FeatureSetParts libsvm_features(const FileBytes& file);
FeatureSetParts torch_features(const FileBytes& file);
// True for a zip archive that begins as PyTorch's do, not as NumPy's.
bool is_torch_archive(std::span<const std::byte> bytes);
// Features only; see read_labels. (npy_features is in npy.h.)

// Adds the labels of a .npy array, or of text with one label per line, to unlabelled parts.
void read_labels(const FileBytes& file, FeatureSetParts& parts);

void write_npz_features(const FeatureSet& set, const std::filesystem::path& path, const WriteOptions& options);
void write_safetensors_features(const FeatureSet& set, const std::filesystem::path& path, const WriteOptions& options);

}  // namespace annulus
