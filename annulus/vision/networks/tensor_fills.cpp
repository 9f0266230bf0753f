// Each function reads its sources only when it is called, while the model is written.
#include "annulus/vision/networks/tensor_fills.h"

#include <utility>

namespace annulus {

Fill rows_of(Fill fill, std::size_t first, std::size_t rows, std::size_t columns) {
  return [=, fill = std::move(fill)] {
    const std::vector<float> all = fill();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * columns);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(rows * columns));
  };
}

Fill scale_each_row(Fill fill, Fill scale, std::size_t columns) {
  return [=, fill = std::move(fill), scale = std::move(scale)] {
    std::vector<float> all = fill();
    const std::vector<float> factors = scale();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] *= factors[i / columns];
    return all;
  };
}

Fill product_of(Fill fill, Fill factors) { return scale_each_row(std::move(fill), std::move(factors), 1); }

Fill joined(std::vector<Fill> fills) {
  return [fills = std::move(fills)] {
    std::vector<float> all;
    for (const Fill& fill : fills) {
      const std::vector<float> part = fill();
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  };
}

Fill transposed_fill(Fill fill, std::size_t rows, std::size_t columns) {
  return [=, fill = std::move(fill)] {
    const std::vector<float> all = fill();
    std::vector<float> turned(all.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) turned[j * rows + i] = all[i * columns + j];
    }
    return turned;
  };
}

Fill zeros(std::size_t count) {
  return [count] { return std::vector<float>(count, 0.0F); };
}

}  // namespace annulus
