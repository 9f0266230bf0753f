// Moves rows along the cycles of their new order.
#include "annulus/base/row_order.h"

#include <algorithm>

namespace annulus {

void take_rows(Matrix<float>& rows, std::span<const std::size_t> order) {
  std::vector<std::size_t> from(order.begin(), order.end());  // an order of all rows, those that are dropped at its end
  std::vector<bool> kept(rows.rows(), false);
  for (const std::size_t row : order) kept[row] = true;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (!kept[row]) from.push_back(row);
  }
  constexpr std::size_t kFetched = 512;  // rows at a time
  std::vector<float> first(rows.cols());
  std::vector<std::size_t> cycle;  // rows each of which becomes the next
  for (std::size_t start = 0; start < from.size(); ++start) {
    if (from[start] == start) continue;
    cycle.clear();
    for (std::size_t row = start; from[row] != row; row = std::exchange(from[row], row)) cycle.push_back(row);
    std::copy(rows.row(start).begin(), rows.row(start).end(), first.begin());
    for (std::size_t i = 0; i + 1 < cycle.size(); ++i) {
      for (std::size_t k = i + 1; i % kFetched == 0 && k < std::min(i + 1 + kFetched, cycle.size()); ++k) {
        rows.expect_row(cycle[k]);
      }
      const auto row = rows.row(cycle[i + 1]);
      std::copy(row.begin(), row.end(), rows.row(cycle[i]).begin());
    }
    std::copy(first.begin(), first.end(), rows.row(cycle.back()).begin());
  }
  rows.keep_first(order.size());
}

std::vector<std::size_t> inverse_order(std::span<const std::size_t> order) {
  std::vector<std::size_t> places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

}  // namespace annulus
