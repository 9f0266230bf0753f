// The backbones that can be had by name: downloaded, converted and cached on first use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "annulus/base/progress.h"

namespace annulus {

struct BackboneEntry {
  const char* name;
  const char* network;
  const char* trained_on;
  const char* licence;  // of the package that the weights come from
  const char* package;  // for the record; scripts/tarballs.txt pins its checksum
  const char* tarball;  // item of scripts/tarballs.txt
  const char* sha256;   // of the converted ONNX file: weights and conversion are exactly the tested ones
  std::size_t dimension;
  int image_size;
  double download_megabytes;
};

std::span<const BackboneEntry> default_backbones();

// Where the converted model is, or would be after its first use.
std::filesystem::path cached_backbone(const BackboneEntry& entry);

struct ResolvedBackbone {
  std::filesystem::path file;            // ONNX
  std::string name;                      // for records: the registry's name, or the file's
  const BackboneEntry* entry = nullptr;  // null for a file of the user's own
};

// A name of default_backbones(), or the path of an ONNX file. A name is downloaded and converted when it is not in the
// cache, which `progress` tells. Throws Error{kUsage} listing the names for anything else, Error{kIo} when the download
// fails.
ResolvedBackbone resolve_backbone(const std::string& name_or_file, const ProgressCallback& progress = {});

}  // namespace annulus
