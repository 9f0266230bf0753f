// Functions that fill weights, made from others: parts, transposes, products.
#pragma once

#include <cstddef>
#include <vector>

#include "annulus/vision/onnx/onnx_model.h"

namespace annulus {

using Fill = OnnxModel::Fill;

// Rows [first, first + rows) of a matrix of `columns` columns.
Fill rows_of(Fill fill, std::size_t first, std::size_t rows, std::size_t columns);
// Row i multiplied by scale[i]: the layer scale of a linear layer's outputs.
Fill scale_each_row(Fill fill, Fill scale, std::size_t columns);
// Values one by one multiplied by those of the other.
Fill product_of(Fill fill, Fill factors);
// The values of all, one after the other.
Fill joined(std::vector<Fill> fills);
// A rows x columns matrix as columns x rows.
Fill transposed_fill(Fill fill, std::size_t rows, std::size_t columns);
Fill zeros(std::size_t count);

}  // namespace annulus
