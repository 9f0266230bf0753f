// What is in a pool, as text, CSV, JSON lines and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "annulus/eval/pool/discover.h"

namespace annulus {

// The groups with what names them.
struct GroupSheet {
  std::string source;  // of the pool
  PoolGroups found;
  std::vector<std::string> names;   // of each group: given by somebody, else "group-001"
  std::vector<std::uint8_t> named;  // whether somebody named it
  std::vector<std::string> paths;   // of the pool's rows; may be empty
  bool images = false;              // paths are those of images
  std::string model;                // that the rows are unknown to; empty: all rows of the pool were grouped

  std::string name_of(std::uint32_t row) const;  // its path, or "row 17"
  std::size_t grouped() const;                   // rows that were looked at
};

// "group-001" for the first; as many digits as `groups` need, three at least.
std::string group_name(std::size_t group, std::size_t groups);

// "7 photos that look alike and like nothing that birds.safetensors was trained on".
std::string group_sentence(const GroupSheet& sheet, std::size_t group);

// A summary for people: kinds, the largest groups with their covers, copies, outliers.
std::string discover_text(const GroupSheet& sheet);
// file_name (or row),label,cover,copy_of,outlier: one line for each row that was grouped, in the order of the pool; a
// folder with it as metadata.csv can be fitted. `file_names` stand for the paths.
std::string discover_csv(const GroupSheet& sheet, const std::vector<std::string>& file_names);
// One object per line and group: {"group", "name", "size", "cohesion", "cover", "members"}.
std::string discover_json_lines(const GroupSheet& sheet);
// {"version", "source", "examples", "grouped", "kinds", "groups", "sizes", "copies", "outliers", "unknown_to"}.
nlohmann::ordered_json discover_json(const GroupSheet& sheet);

}  // namespace annulus
