// Rearranges rows and the values beside them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

// Row i becomes what row order[i] was, without a copy of all: rows may fill the memory. Rows that `order` leaves out
// are dropped.
void take_rows(Matrix<float>& rows, std::span<const std::size_t> order);

// The same for values, one for each row; nothing where there are none.
template <class T>
void take(std::vector<T>& values, std::span<const std::size_t> order) {
  if (values.empty()) return;
  std::vector<T> taken;
  taken.reserve(order.size());
  for (const std::size_t row : order) taken.push_back(std::move(values[row]));
  values = std::move(taken);
}

// The place of each number in an order of all numbers from 0 on.
std::vector<std::size_t> inverse_order(std::span<const std::size_t> order);

}  // namespace annulus
