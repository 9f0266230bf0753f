// Feature rows of unit length, which every method uses, and the cosines between them.
#pragma once

#include "annulus/base/matrix.h"

namespace annulus {

// A copy of the rows, each divided by its length; a row of zeros stays one.
template <class T>
Matrix<T> unit_rows(ConstMatrixView<float> rows);

// cosines(i, j) = rows(i) . examples(j) / |rows(i)|, the cosine if examples have unit length. The bits do not depend on
// `threads`.
Matrix<float> cosines(ConstMatrixView<float> rows, ConstMatrixView<float> examples, int threads);

}  // namespace annulus
