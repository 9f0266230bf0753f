// Vector operations on rows: lengths, normalisation, virtual examples.
#pragma once

#include <span>

#include "annulus/base/matrix.h"

namespace annulus {

template <class T>
T squared_length(std::span<const T> row);

// out = row . shape, element by element; out may be row.
template <class T>
void multiply_row(std::span<const T> row, std::span<const T> shape, std::span<T> out);

// row *= factor.
template <class T>
void scale_row(std::span<T> row, T factor);

// A virtual example (equation 2 of the paper): out = example + radius * (shape . noise) element by element; returns the
// squared length of out. out may be noise.
template <class T>
T virtual_row(std::span<const T> example, std::span<const T> shape, std::span<const T> noise, T radius,
              std::span<T> out);

// out += row.
template <class T>
void add_row(std::span<const T> row, std::span<T> out);

}  // namespace annulus
