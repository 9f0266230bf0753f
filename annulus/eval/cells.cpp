// Keys and look-up of cells.
#include "annulus/eval/cells.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "annulus/base/checksum.h"

namespace annulus {

std::string cell_key(const std::map<std::string, std::string>& parts) {
  const std::string text = nlohmann::json(parts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return sha256_hex(std::as_bytes(std::span(text)));
}

namespace {

// Nothing where another process is at it.
std::optional<std::string> value_unless_busy(const CellStore& store, const Cell& cell) {
  const auto found = [&] { return store.find ? store.find(cell.key) : std::nullopt; };
  if (auto value = found()) return value;
  std::shared_ptr<const void> claim;
  if (store.claim) {
    claim = store.claim(cell.key);
    if (!claim) return std::nullopt;
    // Another process may have finished it between the two looks.
    if (auto value = found()) return value;
  }
  std::string value = cell.compute();
  if (store.keep) store.keep(cell.key, value);
  return value;
}

}  // namespace

std::vector<std::string> cell_values(const CellStore& store, std::span<const Cell> cells,
                                     const std::function<void(std::size_t settled)>& progress) {
  std::vector<std::optional<std::string>> values(cells.size());
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cells[a].size > cells[b].size; });
  for (std::size_t settled = 0; settled < cells.size();) {
    const std::size_t before = settled;
    for (const std::size_t i : order) {
      if (values[i]) continue;
      if (progress) progress(settled);
      values[i] = value_unless_busy(store, cells[i]);
      if (values[i]) ++settled;
    }
    if (settled == before && store.wait) store.wait();
  }
  std::vector<std::string> result;
  for (auto& value : values) result.push_back(std::move(*value));
  return result;
}

}  // namespace annulus
