// Base classes: classes with many examples that are never tested, from which a method may borrow statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Tukey's ladder with power 1/2 on rows of unit length, which makes the skewed features of a rectifier more Gaussian:
// every value is replaced by the square root of its magnitude, with its sign.
Matrix<float> root_rows(ConstMatrixView<float> rows);

class BaseClasses {
 public:
  // Throws Error{kInput} if examples have no labels or a class has fewer than two.
  explicit BaseClasses(FeatureSet set);

  std::size_t dimension() const { return means_.cols(); }
  const std::string& source() const { return set_.source(); }
  std::string checksum() const { return content_checksum(set_); }  // reads all rows
  std::size_t classes() const { return means_.rows(); }
  // Means of root_rows, classes x dimension.
  ConstMatrixView<float> means() const { return means_.view(); }
  // The factor of the covariance of a class: its centred root_rows divided by the root of their number minus one.
  // Standard normal values times this factor have the covariance. Cost: reads the examples of the class.
  Matrix<float> deviations(std::size_t of_class) const;

 private:
  Matrix<float> rows_of(std::size_t of_class) const;

  FeatureSet set_;
  std::vector<std::vector<std::uint32_t>> members_;
  Matrix<float> means_;
};

}  // namespace annulus
