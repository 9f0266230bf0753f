// The effect of an update on the existing classes. Included by the sources of this folder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/update/class_update.h"

namespace annulus {

// All classes: the changed ones first, then by the largest cosine of their mean with that of a changed one. Rows of
// `means` have unit length.
std::vector<std::size_t> most_alike_first(const Matrix<float>& means, const std::vector<bool>& changed);

// The examples to predict before and after an update, in their order: all of them or, if they are many, those of the
// classes most similar to the changed ones and others evenly spaced.
std::vector<std::size_t> examples_to_check(const Matrix<float>& means, const std::vector<bool>& changed,
                                           std::span<const std::int32_t> labels);

// A copy of the chosen rows.
Matrix<float> gather_rows(ConstMatrixView<float> rows, std::span<const std::size_t> chosen);

// Compares the predictions for the checked examples; all labels are those after the update.
void compare_predictions(const Model& model, std::span<const std::size_t> checked, std::span<const std::int32_t> before,
                         std::span<const std::int32_t> after, UpdateReport& report);

// The class whose mean is nearest to that of the chosen one.
void find_most_alike(const Model& model, const Matrix<float>& means, std::size_t chosen, UpdateReport& report);

}  // namespace annulus
