// The labels of predictions, gathered by photo, as keywords in XMP sidecars.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "annulus/base/progress.h"

namespace annulus {

class PhotoKeywords {
 public:
  // Throws the Error{kIo} of a later write where it can be known now: for photos that are named, and for folders.
  static void check_writable(const std::string& photo_or_folder);

  // A prediction for a photo, or for a part of one: boxes and frames count for their file. An empty label, of what was
  // rejected as unknown, adds no keyword.
  void add(std::string_view path, std::string_view label);

  std::size_t photos() const { return labels_.size(); }

  // Writes the sidecars of all photos, in the order of their paths; those of photos without a label lose what an
  // earlier call wrote. Returns how many files it wrote.
  std::size_t write(const ProgressCallback& progress = {}) const;

 private:
  std::map<std::string, std::set<std::string>> labels_;
};

}  // namespace annulus
