// Feature rows of unit length, which every method uses, their mean, and the cosines between them.
#pragma once

#include <vector>

#include "annulus/base/matrix.h"

namespace annulus {

// A copy of the rows, each divided by its length; a row of zeros stays one.
template <class T>
Matrix<T> unit_rows(ConstMatrixView<float> rows);

// cosines(i, j) = rows(i) . examples(j) / |rows(i)|, the cosine if examples have unit length. The bits do not depend on
// `threads`.
Matrix<float> cosines(ConstMatrixView<float> rows, ConstMatrixView<float> examples, int threads);

// The mean of at least one row, summed in double in their order.
std::vector<double> mean_row(ConstMatrixView<float> rows);

}  // namespace annulus
