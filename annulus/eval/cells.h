// Results of finished cells, kept by somebody else: a run that was killed computes only what is missing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace annulus {

// A cell is one result that is computed as a whole: a method on a draw, or on the episodes of a seed. Its key names
// everything that the result depends on, so a cell found is the result. An empty store keeps nothing.
struct CellStore {
  std::function<std::optional<std::string>(const std::string& key)> find{};
  std::function<void(const std::string& key, const std::string& value)> keep{};
};

// A key of 64 hexadecimal digits from what a cell depends on, by name.
std::string cell_key(const std::map<std::string, std::string>& parts);

// The value of a cell, found or computed and kept.
std::string cell_value(const CellStore& store, const std::string& key, const std::function<std::string()>& compute);

}  // namespace annulus
