// Matrix products with one short side of a few rows or columns, where a general product spends its time on packing.
#pragma once

#include <cstddef>
#include <span>

#include "annulus/base/matrix.h"

namespace annulus {

inline constexpr std::size_t kNarrow = 16;  // longest short side for which these were measured to be faster than oneDNN

// out(i, j) = alpha * a(i) . b(j), where b has at most kNarrow rows.
void narrow_products(float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out);

// The same with a transposed result: out(j, i).
void narrow_products_transposed(float alpha, ConstMatrixView<float> a, ConstMatrixView<float> b, MatrixView<float> out);

// out(m) = alpha * sum over r of weights(r, m) * b(r), where weights has at most kNarrow columns.
void narrow_sums(float alpha, ConstMatrixView<float> weights, ConstMatrixView<float> b, MatrixView<float> out);

}  // namespace annulus
