// Networks in eight bits: made from a network and photos, measured, kept in the cache, and made again from a record.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "annulus/base/note.h"
#include "annulus/base/progress.h"
#include "annulus/pipeline/backbones/backbone_store.h"
#include "annulus/vision/preprocess/preprocess_recipe.h"

namespace annulus {

enum class Precision { kFloat32, kInt8, kAuto };

// "float32", "int8" or "auto"; an empty text is float32. Throws Error{kUsage} for another.
Precision parse_precision(const std::string& text);

// What is kept of the int8 form of a network, in the cache beside the file.
struct Int8Record {
  std::string file;            // name in the folder of networks
  std::string sha256;          // of the file
  std::string float32_sha256;  // of the network it was made of
  std::size_t photos = 0;      // that the ranges come from
  int weight_bits = 8;         // 7 where the processor has no VNNI
  double gain = 0;             // float32's time for an image over int8's, one thread
  std::string measured_on;     // the machine
  double error = 0;            // see Int8Options::largest_error
};

struct Int8Options {
  std::size_t most_photos = 256;  // to take ranges from, evenly spread over those given
  std::size_t least_photos = 8;
  std::size_t check_photos = 64;  // others, to compare features on
  // For the precision "auto": the mean squared error of int8's features over the mean squared distance of a photo's
  // features to those of the nearest other photo, both scaled to length 1.
  double largest_error = 0.1;
  double least_gain = 1.2;
  std::size_t auto_photos = 500;  // "auto" makes an int8 form only where so many photos are to be encoded
  int threads = 0;
};

// The int8 form that is kept of the network with this checksum. Throws Error{kFormat} for a broken record.
std::optional<Int8Record> kept_int8(const std::string& float32_sha256);
std::filesystem::path int8_file(const Int8Record& record);

// Makes the int8 form of a network from photos and keeps it; one that was kept is replaced. The same photos give the
// same file. Throws Error{kInput} with a sentence for a network that cannot be made int8 of, and for too few photos.
Int8Record make_int8_backbone(const ResolvedBackbone& network, const std::string& preprocess,
                              std::span<const std::string> photos, const Int8Options& options = {},
                              const ProgressCallback& progress = {});

// The file to run for a precision: the network's own, or its int8 form, which is made from `photos` where none is kept.
// `note` hears of one that was made, and of one made for other processors.
std::filesystem::path file_for_precision(const ResolvedBackbone& network, Precision precision,
                                         const std::string& preprocess, std::span<const std::string> photos,
                                         const Int8Options& options = {}, const ProgressCallback& progress = {},
                                         const NoteCallback& note = {});

// The int8 form that a record of features names ("float32_sha256", "quantization"), made again where it is not in the
// cache. Throws Error{kInput} when `network` is another one.
std::filesystem::path file_of_record(const ResolvedBackbone& network, const std::map<std::string, std::string>& record,
                                     const NoteCallback& note = {});

// Removes the int8 forms of a network of the catalogue. False: there were none.
bool remove_int8(const std::string& name);

}  // namespace annulus
