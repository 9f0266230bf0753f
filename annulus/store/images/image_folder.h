// Finds the images of a folder and their classes, in any of the usual layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace annulus {

struct ImageListOptions {
  // A k-shot list: take only the images it names, in its order. A line is `class file`, or a file name alone whose
  // class is its folder or the part before the first underscore. Empty: every image.
  std::filesystem::path list_file;
  // The images are for training: missing labels, or a class folder without images, are then errors.
  bool for_training = false;
};

// One row per image. Arrays are empty or as long as `paths`.
struct ImageList {
  std::vector<std::string> paths;            // can be opened as they are
  std::vector<std::int32_t> labels;          // class indices; empty: not labelled
  std::vector<std::string> class_names;      // classes that have images, in the order of their bytes
  std::vector<std::uint8_t> is_train;        // 1 train, 0 test; empty: not defined by the layout
  std::vector<std::int32_t> groups{};        // as FeatureSetParts::groups; empty: every image is on its own
  std::vector<std::string> empty_classes{};  // names of class folders without images
  std::vector<std::string> warnings;         // one sentence each: what was skipped and why
};

// Layouts, tried in this order:
//   an image file                  that one image, not labelled
//   root/metadata.csv|jsonl        file_name and label (or class, ...), optionally split and group; in the order of
//                                  the file
//   root/{train,val,test}/...      classes inside each; also with a metadata file in each. test, else val, is the
//                                  test set
//   root/<class>/**                a folder a class, nested files too
//   root/*                         a flat folder, not labelled
// Folders are listed by class, then by path, in byte order. Hidden files and names without the extension of a format
// that is read (image_type.h) are skipped and counted in a warning; so are names that are not UTF-8. Links are
// followed, each folder once. Throws Error{kIo} if root is missing and Error{kInput} if it holds no images.
ImageList list_images(const std::filesystem::path& root, const ImageListOptions& options = {});

// Whether a path denotes images: a folder, or a file with the extension of an image.
bool holds_images(const std::filesystem::path& path);

// Whether the name has the extension of a format that is read, in any case.
bool has_image_extension(const std::filesystem::path& path);

}  // namespace annulus
