// Groups examples by class and averages them.
#include "annulus/learn/baselines/base_classes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/unit_rows.h"

namespace annulus {

Matrix<float> root_rows(ConstMatrixView<float> rows) {
  Matrix<float> result = unit_rows<float>(rows);
  std::transform(result.data(), result.data() + result.rows() * result.cols(), result.data(),
                 [](float value) { return std::copysign(std::sqrt(std::abs(value)), value); });
  return result;
}

BaseClasses::BaseClasses(FeatureSet set)
    : set_(std::move(set)), members_(set_.classes()), means_(set_.classes(), set_.dimension()) {
  if (!set_.labelled()) fail(ErrorKind::kInput, "{}: expected base classes with labels, found none", set_.source());
  for (std::size_t i = 0; i < set_.rows(); ++i) {
    members_[static_cast<std::size_t>(set_.labels()[i])].push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t c = 0; c < members_.size(); ++c) {
    if (members_[c].size() < 2) {
      fail(ErrorKind::kInput, "{}: expected at least 2 examples of base class \"{}\", found {}", set_.source(),
           set_.class_names()[c], members_[c].size());
    }
    const Matrix<float> rows = rows_of(c);
    std::vector<double> sums(rows.cols(), 0.0);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<double>(rows(i, j));
    }
    std::transform(sums.begin(), sums.end(), means_.row(c).begin(),
                   [&](double sum) { return static_cast<float>(sum / static_cast<double>(rows.rows())); });
  }
}

Matrix<float> BaseClasses::rows_of(std::size_t of_class) const {
  Matrix<float> rows(members_[of_class].size(), set_.dimension());
  set_.copy_rows(members_[of_class], rows.view());
  return root_rows(rows.view());
}

Matrix<float> BaseClasses::deviations(std::size_t of_class) const {
  Matrix<float> rows = rows_of(of_class);
  const float scale = 1.0F / std::sqrt(static_cast<float>(rows.rows() - 1));
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.cols(); ++j) rows(i, j) = scale * (rows(i, j) - means_(of_class, j));
  }
  return rows;
}

}  // namespace annulus
