// Classes with many rows that nobody is asked about: what a method may borrow statistics from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Tukey's ladder with power 1/2 on rows of length 1, which makes the skewed features of a rectifier more Gaussian:
// every number is replaced by the root of its size, with its sign.
Matrix<float> root_rows(ConstMatrixView<float> rows);

class BaseClasses {
 public:
  // Throws Error{kInput} when rows have no labels or a class has fewer than two.
  explicit BaseClasses(FeatureSet set);

  std::size_t dimension() const { return means_.cols(); }
  const std::string& source() const { return set_.source(); }
  std::string checksum() const { return content_checksum(set_); }  // reads all rows
  std::size_t classes() const { return means_.rows(); }
  // Means of root_rows, classes x dimension.
  ConstMatrixView<float> means() const { return means_.view(); }
  // What to combine standard normal numbers with for the covariance of a class: its root_rows less their mean, divided
  // by the root of their number less one. Cost: reads the rows of the class.
  Matrix<float> deviations(std::size_t of_class) const;

 private:
  Matrix<float> rows_of(std::size_t of_class) const;

  FeatureSet set_;
  std::vector<std::vector<std::uint32_t>> members_;
  Matrix<float> means_;
};

}  // namespace annulus
