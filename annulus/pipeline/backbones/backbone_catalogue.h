// The backbones that are known by name: where each lies, what it is, how it is verified and imported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// One network. The fields are those of backbones.json (docs/reference/file-formats.md); text that is not known is
// empty, a number that is not known 0.
struct BackboneEntry {
  std::string name;        // letters, digits, dots, dashes and underscores
  std::string family;      // "dino", "clip", ...
  std::string network;     // "ViT-S/16"
  std::string trained_on;  // the data
  bool labels = false;     // whether it was trained with labels
  std::size_t dimension = 0;
  int image_size = 0;

  std::string licence;
  bool commercial_use = false;  // whether the licence allows it
  bool gated = false;           // its publisher wants to be asked first
  std::string licence_address;

  std::string address;      // of the file, or of the page where it is to be found by hand
  std::string npm_item;     // of scripts/tarballs.txt, instead of an address
  std::string package;      // that the item comes from
  std::uint64_t bytes = 0;  // exact length of the file: checked
  double megabytes = 0;     // about, where `bytes` is not known
  std::string sha256;       // of the file, or its first eight digits or more
  std::string verified_by;  // whose checksum that is: "publisher", "others", or "first download", which is recorded
  std::string by_hand;      // what to do where a program cannot download the file; empty: it can

  std::string format = "checkpoint";  // or "onnx" or "tfjs"
  std::string arch;                   // as ImportOptions has it, and so on
  std::string preprocess;
  std::string within;
  std::string feature;
  bool allow_inert_objects = false;
  std::string onnx_sha256;  // of the converted file, where weights and conversion are both pinned

  double imagenet_accuracy = 0;  // percent, as published
  std::string imagenet_measure;  // "k-NN", "linear", "supervised", "zero-shot"
  std::string imagenet_source;
  std::string advice;  // "good start", "best on a CPU", "best"
};

// Reads the text of a catalogue. Throws Error{kFormat} with one sentence that names `where`, the entry and the field.
std::vector<BackboneEntry> parse_catalogue(std::string_view text, const std::string& where);

// $XDG_CONFIG_HOME/annulus/backbones.json, else ~/.config/annulus/backbones.json; empty if neither variable is set.
std::filesystem::path user_catalogue_file();

// The catalogue that is built in, with the user's entries after it: an entry of the same name replaces. Read once;
// where the user's file is broken, every call throws as parse_catalogue does.
const std::vector<BackboneEntry>& known_backbones();

// The entry of that name; null: there is none.
const BackboneEntry* find_backbone(std::string_view name);

// The known name that differs from `name` in the fewest letters; empty: none is near.
std::string nearest_backbone(std::string_view name);

// What the network was trained on: "ImageNet-1k, without labels".
std::string training_text(const BackboneEntry& entry);

// The size of the download in megabytes, exact or about; 0: not known.
double download_megabytes(const BackboneEntry& entry);

// share/backbones.json, put into the library when it is built.
extern const char* const kBackbonesText;

}  // namespace annulus
