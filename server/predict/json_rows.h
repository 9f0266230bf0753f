// Rows of numbers from JSON. Included by the parsers of bodies only: simdjson takes seconds to compile.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <vector>

#include "annulus/base/matrix.h"

namespace annulus::server {

// [[1, 2], [3, 4]] or [1, 2], which is one row: true for that. Rows must be equally long and not empty, at most
// max_rows, and finite as float32. Throws Error{kInput}, or simdjson_error for what is no array of numbers.
bool read_rows(simdjson::ondemand::value value, std::size_t max_rows, Matrix<float>& rows);

// Numbers of an array, nested or flat, appended in order. `depth` is that of the array itself, 1 for the outermost.
// Throws Error{kFormat} for arrays nested more than 8 deep.
void read_numbers(simdjson::ondemand::array array, std::vector<float>& numbers, int depth);

// Throws Error{kFormat} when something follows what was read.
void expect_end(simdjson::ondemand::document& document);

}  // namespace annulus::server
