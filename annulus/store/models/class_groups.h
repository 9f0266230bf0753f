// Which groups the classes of a fit have: from their names, or from a file.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "annulus/learn/model/class_tree.h"

namespace annulus {

struct ClassGroupOptions {
  bool hierarchy = false;         // class names are paths: "birds/woodpeckers/downy"
  std::filesystem::path parents;  // CSV of names and their groups, a pair a line: "downy,woodpeckers"; empty: none

  bool wanted() const { return hierarchy || !parents.empty(); }
};

// Both may be given: the file then groups what stands at the top of the paths. Throws Error{kInput} where no class has
// a group, for names in the file that are neither a class nor a group, and as ClassTree does; Error{kFormat} and
// Error{kIo} for a file that cannot be read.
ClassParents class_groups(std::span<const std::string> class_names, const ClassGroupOptions& options);

}  // namespace annulus
