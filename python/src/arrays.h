// numpy arrays as views of the library and matrices of the library as numpy arrays; nothing is copied where that can
// be.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/matrix.h"

namespace annulus::python {

// Feature rows. A float32 array whose rows lie one after another is used as it is, read-only or not; any other is
// converted once.
using Rows = pybind11::array_t<float, pybind11::array::c_style | pybind11::array::forcecast>;
using Labels = pybind11::array_t<std::int32_t, pybind11::array::c_style | pybind11::array::forcecast>;
using Weights = pybind11::array_t<float, pybind11::array::c_style | pybind11::array::forcecast>;

// Valid as long as the array is.
inline ConstMatrixView<float> view_of(const Rows& rows) {
  if (rows.ndim() != 2)
    fail(ErrorKind::kInput, "expected an array of rows and columns, found {} dimensions", rows.ndim());
  return {rows.data(), static_cast<std::size_t>(rows.shape(0)), static_cast<std::size_t>(rows.shape(1))};
}

inline Matrix<float> copy_of(ConstMatrixView<float> rows) {
  Matrix<float> copy(rows.rows(), rows.cols());
  if (!rows.empty()) std::memcpy(copy.data(), rows.data(), rows.rows() * rows.cols() * sizeof(float));
  return copy;
}

template <class T>
std::vector<T> vector_of(const pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>& array) {
  return {array.data(), array.data() + array.size()};
}

// An array that owns what the matrix owned.
template <class T>
pybind11::array_t<T> array_of(Matrix<T> matrix) {
  auto owned = std::make_unique<Matrix<T>>(std::move(matrix));
  const auto rows = static_cast<pybind11::ssize_t>(owned->rows());
  const auto cols = static_cast<pybind11::ssize_t>(owned->cols());
  T* data = owned->data();
  const pybind11::capsule owner(owned.release(), [](void* pointer) { delete static_cast<Matrix<T>*>(pointer); });
  return pybind11::array_t<T>({rows, cols}, data, owner);
}

template <class T>
pybind11::array_t<T> array_of(const std::vector<T>& values) {
  return pybind11::array_t<T>(static_cast<pybind11::ssize_t>(values.size()), values.data());
}

}  // namespace annulus::python
