// The rows of a pool of unlabelled examples, made comparable and put into an order that files do not decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// The features of all examples of a set, as float.
Matrix<float> features_of(const FeatureSet& set);

// Square roots if no value is negative, then rows of unit length. Throws Error{kInput} for a row that has no length.
void make_comparable(MatrixView<float> rows);

// The numbers of all rows by their values, then by their paths (empty, or one for each row): the same rows in another
// order of the file give the same sequence of rows.
std::vector<std::size_t> content_order(ConstMatrixView<float> rows, std::span<const std::string> paths);

// A number as 32 bits: rows of pools are counted in these.
inline std::uint32_t row_number(std::size_t row) { return static_cast<std::uint32_t>(row); }

}  // namespace annulus
