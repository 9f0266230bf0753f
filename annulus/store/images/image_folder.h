// Finds the images of a folder and their classes, in any of the usual layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace annulus {

// Boxes in photos: each is an example of its own.
struct BoxOptions {
  std::filesystem::path file{};  // COCO or MegaDetector JSON, or metadata with boxes; empty: the layout's own, if any
  double confidence = 0.2;       // of MegaDetector's boxes: those below are passed over
};

// Frames of videos: each is an example of its own. Without one of the two, videos are no images.
struct FrameOptions {
  double every = 0;                 // one frame in each period of so many seconds; 0: none
  bool scenes = false;              // the first frame of each scene
  std::size_t max_frames = 20'000;  // of one video

  bool wanted() const { return every > 0 || scenes; }
};

struct ImageListOptions {
  // A k-shot list: take only the images it names, in its order. A line is `class file`, or a file name alone whose
  // class is its folder or the part before the first underscore. Empty: every image.
  std::filesystem::path list_file;
  // The images are for training: missing labels, or a class folder without images, are then errors.
  bool for_training = false;
  BoxOptions boxes{};
  FrameOptions frames{};
  // Folders in class folders are classes too, named by their path: "birds/woodpeckers/downy".
  bool nested = false;
};

// One row per image. Arrays are empty or as long as `paths`.
struct ImageList {
  std::vector<std::string> paths;            // of files, or of parts of them (base/media_fragment.h)
  std::vector<std::int32_t> labels;          // class indices; empty: not labelled
  std::vector<std::string> class_names;      // classes that have images, in the order of their bytes
  std::vector<std::uint8_t> is_train;        // 1 train, 0 test; empty: not defined by the layout
  std::vector<std::int32_t> groups{};        // as FeatureSetParts::groups; empty: every image is on its own
  std::vector<std::string> empty_classes{};  // names of class folders without images
  std::vector<std::string> warnings;         // one sentence each: what was skipped and why
};

// Layouts, tried in this order:
//   an image file                  that one image, or the box that its name ends in, not labelled
//   a .json file                   the boxes of COCO or MegaDetector in photos beside it; COCO's categories are classes
//   root/metadata.csv|jsonl        file_name and label (or class, ...), optionally split, group and a box; in the order
//                                  of the file
//   root/{train,val,test}/...      classes inside each; also with a metadata file in each. test, else val, is the
//                                  test set
//   root/<class>/**                a folder a class, nested files too; where they are nested, each folder with images
//   root/*                         a flat folder, not labelled
// Where frames are wanted, videos are taken too, and each frame is an example: videos are told by their content, and of
// a folder files with the extension of an image or a video are looked at. Folders are listed by class, then by path, in
// byte order. Hidden files and names without the extension of a format that is read (image_type.h) are skipped and
// counted in a warning; so are names that are not UTF-8. Links are followed, each folder once. Throws Error{kIo} if
// root is missing and Error{kInput} if it holds no images.
ImageList list_images(const std::filesystem::path& root, const ImageListOptions& options = {});

// Whether a path denotes images: a folder, a file (or a part of one) with the extension of an image or a video, or a
// .json file of boxes.
bool holds_images(const std::filesystem::path& path);

// Whether the name has the extension of a format that is read, in any case.
bool has_image_extension(const std::filesystem::path& path);

}  // namespace annulus
