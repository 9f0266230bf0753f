// Row-major matrices: Matrix owns aligned memory, MatrixView looks at memory owned elsewhere.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "annulus/base/memory.h"

namespace annulus {

/// A view of rows x cols elements; row i starts at data + i * stride. Copying a view copies no element.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;  ///< Of nothing.
  /// Rows that follow each other without a gap.
  MatrixView(T* data, std::size_t rows, std::size_t cols) : MatrixView(data, rows, cols, cols) {}
  /// Row i starts at data + i * stride.
  MatrixView(T* data, std::size_t rows, std::size_t cols, std::size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}

  /// A view of mutable elements is also a view of constant ones.
  template <class U>
  requires(std::is_const_v<T>&& std::is_same_v<const U, T> && !std::is_same_v<U, T>)
      MatrixView(const MatrixView<U>& other)  // NOLINT(google-explicit-constructor)
      : MatrixView(other.data(), other.rows(), other.cols(), other.stride()) {}

  T* data() const { return data_; }                        ///< The first element.
  std::size_t rows() const { return rows_; }               ///< Number of rows.
  std::size_t cols() const { return cols_; }               ///< Elements per row.
  std::size_t stride() const { return stride_; }           ///< Elements from one row to the next.
  bool empty() const { return rows_ == 0 || cols_ == 0; }  ///< Whether it has no element.

  /// One element; both indices must be within the view.
  T& operator()(std::size_t row, std::size_t col) const {
    assert(row < rows_ && col < cols_);
    return data_[row * stride_ + col];
  }
  /// The elements of one row.
  std::span<T> row(std::size_t index) const {
    assert(index < rows_);
    return {data_ + index * stride_, cols_};
  }
  /// Rows [first, first + count).
  MatrixView rows_at(std::size_t first, std::size_t count) const {
    assert(first + count <= rows_);
    return {data_ + first * stride_, count, cols_, stride_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
};

/// A view that changes nothing.
template <class T>
using ConstMatrixView = MatrixView<const T>;

/// Owns zero-initialised memory aligned to 64 bytes; movable, copied only by clone().
template <class T>
class Matrix {
 public:
  Matrix() = default;  ///< Without elements.
  /// rows x cols zeros.
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols) {
    const std::size_t bytes = rows * cols * sizeof(T);
    if (bytes == 0) return;
    Release release{bytes};
    T* const data = static_cast<T*>(take_memory(bytes, release.place));
    data_ = {data, release};
  }
  /// Takes the memory of the other, which is empty then.
  Matrix(Matrix&& other) noexcept { *this = std::move(other); }
  /// The same.
  Matrix& operator=(Matrix&& other) noexcept {
    data_ = std::move(other.data_);
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    return *this;
  }

  /// A copy of all elements.
  Matrix clone() const {
    Matrix copy(rows_, cols_);
    if (data_) std::memcpy(static_cast<void*>(copy.data()), data(), rows_ * cols_ * sizeof(T));
    return copy;
  }

  /// The row will be read soon: many that are not in memory are then fetched at once, rather than one after the other.
  void expect_row(std::size_t index) const {
    const LargeMemory* const place = data_.get_deleter().place;
    if (place != nullptr) place->expect(row(index).data(), cols_ * sizeof(T));
  }

  /// Lets go of all rows but the first `count`; what they took stays taken.
  void keep_first(std::size_t count) {
    assert(count <= rows_);
    rows_ = count;
  }

  T* data() { return data_.get(); }                  ///< The first element.
  const T* data() const { return data_.get(); }      ///< The first element.
  std::size_t rows() const { return rows_; }         ///< Number of rows.
  std::size_t cols() const { return cols_; }         ///< Elements per row.
  bool empty() const { return rows_ * cols_ == 0; }  ///< Whether it has no element.

  /// One element; both indices must be within the matrix.
  T& operator()(std::size_t row, std::size_t col) { return view()(row, col); }
  /// One element; both indices must be within the matrix.
  const T& operator()(std::size_t row, std::size_t col) const { return view()(row, col); }
  std::span<T> row(std::size_t index) { return view().row(index); }              ///< The elements of one row.
  std::span<const T> row(std::size_t index) const { return view().row(index); }  ///< The elements of one row.

  /// A view of all rows; it must not outlive the matrix.
  MatrixView<T> view() { return {data_.get(), rows_, cols_}; }
  /// The same.
  ConstMatrixView<T> view() const { return {data_.get(), rows_, cols_}; }

 private:
  struct Release {
    std::size_t bytes = 0;
    const LargeMemory* place = nullptr;
    void operator()(T* pointer) const { release_memory(pointer, bytes, place); }
  };
  static_assert(std::is_trivially_copyable_v<T>);

  std::unique_ptr<T, Release> data_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

/// A rows x cols view of the buffer's memory, which is replaced by a larger one when it does not suffice. For work
/// space that is kept from step to step: what the buffer held before is of no meaning.
template <class T>
MatrixView<T> reuse(Matrix<T>& buffer, std::size_t rows, std::size_t cols) {
  if (buffer.rows() * buffer.cols() < rows * cols) buffer = Matrix<T>(rows, cols);
  return {buffer.data(), rows, cols};
}

/// The same with rows that do not start a power of two apart: their starts would share few sets of the caches, which
/// halves the speed of some matrix products.
template <class T>
MatrixView<T> reuse_apart(Matrix<T>& buffer, std::size_t rows, std::size_t cols) {
  constexpr std::size_t kCacheLine = 64 / sizeof(T);
  const std::size_t stride = cols % (16 * kCacheLine) == 0 ? cols + kCacheLine : cols;
  return {reuse(buffer, rows, stride).data(), rows, cols, stride};
}

}  // namespace annulus
