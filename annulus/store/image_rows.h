// What the readers of image layouts hand to list_images: rows with class names in words.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace annulus {

struct ImageRow {
  std::string path;
  std::optional<std::string> class_name;
  std::optional<bool> is_train;
};

struct ImageRows {
  std::vector<ImageRow> rows;
  std::vector<std::string> warnings;
  std::vector<std::string> empty_classes{};  // names of class folders without images
};

// The metadata file of a folder (metadata.csv, then metadata.jsonl); empty when there is none.
std::filesystem::path find_metadata(const std::filesystem::path& folder);

// Rows of a metadata file, whose file names are relative to `folder`. Throws Error{kFormat} or Error{kInput} with the
// line at fault.
ImageRows read_metadata(const std::filesystem::path& metadata, const std::filesystem::path& folder);

// Rows of a k-shot list, looked for under `root` and `root`/train.
ImageRows read_list_file(const std::filesystem::path& list_file, const std::filesystem::path& root);

// The name with bytes that are not UTF-8 replaced, fit for a message.
std::string printable(const std::filesystem::path& path);

}  // namespace annulus
