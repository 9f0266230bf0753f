// The result of the readers of image layouts: rows with class names as text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "annulus/store/images/image_folder.h"

namespace annulus {

struct ImageRow {
  std::string path;
  std::optional<std::string> class_name;
  std::optional<bool> is_train;
  std::string group{};  // name of the group; empty: the image is on its own
};

struct ImageRows {
  std::vector<ImageRow> rows;
  std::vector<std::string> warnings;
  std::vector<std::string> empty_classes{};  // names of class folders without images
};

// The metadata file of a folder (metadata.csv, then metadata.jsonl); empty when there is none.
std::filesystem::path find_metadata(const std::filesystem::path& folder);

// Rows of a metadata file, whose file names are relative to one of `folders`; those of boxes name them in the path.
// Throws Error{kFormat} or Error{kInput} with the line.
ImageRows read_metadata(const std::filesystem::path& metadata, std::span<const std::filesystem::path> folders);

// The path of the image `name` in the first of `folders` that has it. Throws Error{kInput}, beginning with `where`.
std::string find_image(const std::string& name, std::span<const std::filesystem::path> folders,
                       const std::string& where);

// Rows of a k-shot list, whose files are searched under `root` and `root`/train.
ImageRows read_list_file(const std::filesystem::path& list_file, const std::filesystem::path& root);

// The rows as a list with class indices; `source` stands for them in messages. Throws Error{kInput} when there are
// none, when only some have a class or a split, or when labels are expected and missing.
ImageList image_list_of(ImageRows rows, const std::filesystem::path& source, bool labels_expected);

// The name with invalid UTF-8 replaced, for messages.
std::string printable(const std::filesystem::path& path);

}  // namespace annulus
