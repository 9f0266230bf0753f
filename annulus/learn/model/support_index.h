// Finds the training examples nearest to a row, among those that a model keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/learn/model/prediction.h"
#include "annulus/learn/model/support_set.h"
#include "annulus/learn/transform/feature_transform.h"

namespace annulus {

// How near a row u is to the support examples of a class. The closeness of u and v is u . v + |axes (u - v)|^2 / 2,
// that is 1 less half their squared distance, in which differences along the axes count less.
struct ClassNearness {
  float cosine = 0.0F;          // of the nearest row
  float row_closeness = 0.0F;   // to the closest row
  float mean_closeness = 0.0F;  // to the mean of the rows, scaled to length 1
};

// Conditions the support examples once; may outlive what it was made from.
class SupportIndex {
 public:
  // There are means of `classes` classes, or of as many as have rows.
  SupportIndex(const FeatureTransform& transform, const SupportSet& support, int threads = 1, std::size_t classes = 0);
  // The same of rows that nobody else needs.
  SupportIndex(const FeatureTransform& transform, Matrix<float>&& rows, std::vector<std::int32_t> labels,
               int threads = 1, std::size_t classes = 0);

  // The min(count, all) nearest of each raw row, nearest first, of equals the lower number first. `without`, empty or
  // one support example for each row, is passed over. Costs a product of rows and support. Throws Error{kInput} for a
  // row that has no length.
  std::vector<std::vector<NearExample>> nearest(ConstMatrixView<float> rows, std::size_t count, int threads,
                                                const std::vector<std::size_t>& without = {}) const;

  // Sets the axes of closeness, as of class_spread_axes; there are none before.
  void set_axes(Matrix<float> axes, int threads);

  // How near each raw row is to the support examples of its class in `classes`; one without rows counts as one of
  // zeros.
  std::vector<ClassNearness> near_class(ConstMatrixView<float> rows, std::span<const std::int32_t> classes,
                                        int threads) const;

  // The same for support examples, given by their numbers, each as if it were not among the support examples, to the
  // classes of each list in `classes`: -1 where nothing is left of the class. The axes are those of the support
  // examples without a tenth of these, the row among them.
  std::vector<std::vector<ClassNearness>> near_class_without(std::span<const std::size_t> left_out,
                                                             const std::vector<std::vector<std::int32_t>>& classes,
                                                             int threads) const;

  // The transformed support examples, of length 1.
  ConstMatrixView<float> rows() const { return rows_.view(); }
  // The means of the rows of each class, scaled to length 1; zeros for a class without rows.
  ConstMatrixView<float> means() const { return means_.view(); }

 private:
  // Calls use(first row, transformed rows) for small blocks of raw rows.
  template <class Use>
  void for_conditioned(ConstMatrixView<float> rows, int threads, const Use& use) const;
  // Axes, and how far support examples and means lie along them.
  struct Projections {
    Matrix<float> axes;
    Matrix<float> rows;
    Matrix<float> means;
  };
  Projections project(Matrix<float> axes, int threads) const;
  // Of a transformed row, as if support example number `without` were not there.
  ClassNearness near(std::span<const float> row, std::int32_t label, const Projections& projections,
                     std::size_t without) const;
  // Of the class of a support example, from its other rows; empty where nothing is left.
  std::vector<float> mean_without(std::size_t left_out) const;

  FeatureTransform transform_;
  Matrix<float> rows_;
  std::vector<std::int32_t> labels_;
  std::vector<std::vector<std::size_t>> of_class_;  // row numbers
  Matrix<float> means_;
  std::vector<float> sum_lengths_;  // of the sums that became the means
  Projections projections_;
};

inline constexpr std::size_t kMostIndexed = 16384;

// Numbers of the rows that an index has to have to be asked about the classes in `wanted`: all of these classes, or all
// rows where they are at most kMostIndexed. What axes are learnt from is thus the same however many processes hold the
// rows, and bounded by what is asked.
std::vector<std::size_t> rows_to_index(std::span<const std::int32_t> labels, const std::vector<bool>& wanted);

// Calls use(i, row number rows[i] transformed and of length 1) in this order, on every process that holds part of the
// support examples.
void for_each_conditioned(const FeatureTransform& transform, const SupportSet& support,
                          std::span<const std::size_t> rows, int threads,
                          const std::function<void(std::size_t, std::span<const float>)>& use);

}  // namespace annulus
