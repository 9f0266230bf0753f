// Files that say where objects are in photos: COCO's JSON, MegaDetector's JSON, metadata.csv and metadata.jsonl.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/media_fragment.h"
#include "annulus/store/images/image_rows.h"

namespace annulus {

// A box with its class, where the file names one.
struct LabelledBox {
  MediaBox box;
  std::optional<std::string> label{};
};

struct BoxedPhoto {
  std::string name;  // as the file has it, usually relative to the folder of photos
  std::vector<LabelledBox> boxes;
};

struct BoxFile {
  std::vector<BoxedPhoto> photos;     // in the order of the file; some may be without boxes
  std::vector<std::string> warnings;  // one sentence each: which boxes were passed over
};

// Reads COCO's JSON (categories are classes, crowds are passed over) or MegaDetector's (animals of at least
// options.confidence, without a class; people and vehicles are passed over). Memory: a small multiple of the file
// without its outlines. Throws Error{kFormat} with the place in the file, and Error{kIo}.
BoxFile read_box_json(const std::filesystem::path& file, const BoxOptions& options);

// The boxes of options.file as rows: those of the photos in `rows`, with their classes and splits, and with the file's
// classes where they have none. Names of photos are relative to `root` or to the file's folder. Photos without a box
// are passed over with a warning. The boxes of a photo are a group unless its row names another. Throws as
// read_box_json and read_metadata do.
ImageRows boxes_of_rows(ImageRows rows, const std::filesystem::path& root, const BoxOptions& options);

// All boxes of a JSON file as rows; names of photos are relative to its folder. Throws Error{kInput} for a photo that
// is not there.
ImageRows read_boxes_as_rows(const std::filesystem::path& file, const BoxOptions& options);

}  // namespace annulus
