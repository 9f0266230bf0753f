// What a change did to the classes that were there before; for the sources of grow.h only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/grow.h"

namespace annulus {

// All classes, the changed ones first, then by the largest cosine of their mean and that of a changed one. Rows of
// `means` have length 1.
std::vector<std::size_t> most_alike_first(const Matrix<float>& means, const std::vector<bool>& changed);

// Which of the rows with these labels are named before and after a change, in their order: all of them, or where they
// are many those of the classes most alike to the changed ones and others evenly spaced.
std::vector<std::size_t> rows_to_ask(const Matrix<float>& means, const std::vector<bool>& changed,
                                     std::span<const std::int32_t> labels);

// Some rows of a matrix, copied together.
Matrix<float> gather_rows(ConstMatrixView<float> rows, std::span<const std::size_t> chosen);

// What a head names rows that are conditioned already.
std::vector<std::int32_t> name_conditioned(Head<float>& head, ConstMatrixView<float> rows, int threads);

// Compares the answers for the rows asked; all labels are those after the change.
void compare_answers(const Model& model, std::span<const std::size_t> asked, std::span<const std::int32_t> before,
                     std::span<const std::int32_t> after, GrowthReport& report);

// The class whose mean is nearest to that of the chosen one.
void find_most_alike(const Model& model, const Matrix<float>& means, std::size_t chosen, GrowthReport& report);

}  // namespace annulus
