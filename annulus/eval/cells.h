// Results of finished cells, kept by somebody else: a run that was killed computes only what is missing.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annulus {

// A cell is one result that is computed as a whole: a method on a draw, or on the episodes of a seed. Its key names
// everything that the result depends on, so a cell found is the result. An empty store keeps nothing.
struct CellStore {
  std::function<std::optional<std::string>(const std::string& key)> find{};
  std::function<void(const std::string& key, const std::string& value)> keep{};
  // Where several processes share a store: takes on the work of a cell, until what it returns is gone; null while
  // another process is at it. Absent: nobody else is.
  std::function<std::shared_ptr<const void>(const std::string& key)> claim{};
  std::function<void()> wait{};  // for a moment, until others may have finished something

  bool empty() const { return !find && !keep; }
};

struct Cell {
  std::string key;
  std::function<std::string()> compute;
  double size = 0.0;  // how much work it is, compared with the others
};

// A key of 64 hexadecimal digits from what a cell depends on, by name.
std::string cell_key(const std::map<std::string, std::string>& parts);

// The values of cells, found or computed and kept, the largest first: processes that share them then end at about the
// same time. Those that other processes are at come last: they are looked for until they are there, or until their
// process is gone and they are computed here. Called between cells, `progress` is
// told how many are settled.
std::vector<std::string> cell_values(const CellStore& store, std::span<const Cell> cells,
                                     const std::function<void(std::size_t settled)>& progress = {});

}  // namespace annulus
