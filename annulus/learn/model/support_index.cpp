// Nearest support examples, by matrix products on blocks of rows.
#include "annulus/learn/model/support_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/narrow_gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/transform/class_spread.h"

namespace annulus {
namespace {

constexpr double kLeastSquare = 1e-6;           // of the length of what is left of a class
constexpr std::size_t kRowsTogether = kNarrow;  // so that a row's bits do not depend on the rows beside it
constexpr std::size_t kSpreadParts = 10;        // in which rows are left out of the axes
constexpr std::size_t kTile = 1024;             // support examples at a time: their cosines stay in the cache

// Takes in the cosines of support examples [first, first + cosines.size()), with the best so far in order: few are
// asked for, and nearly all rows are worse than the last of them.
void take_in(std::span<const float> cosines, std::size_t first, std::size_t count, std::size_t without,
             std::vector<NearExample>& near) {
  for (std::size_t j = 0; j < cosines.size(); ++j) {
    if (first + j == without || (near.size() == count && !(cosines[j] > near.back().cosine))) continue;
    // Of equals the lower number stays before.
    const auto place = std::upper_bound(near.begin(), near.end(), cosines[j],
                                        [](float cosine, const NearExample& other) { return cosine > other.cosine; });
    near.insert(place, {first + j, cosines[j]});
    if (near.size() > count) near.pop_back();
  }
}

void subtract_row(std::span<const float> row, std::span<float> from) {
  std::transform(from.begin(), from.end(), row.begin(), from.begin(), std::minus<>());
}

double product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Row by row, so that a row's numbers do not depend on the others.
Matrix<float> all_along_axes(ConstMatrixView<float> axes, ConstMatrixView<float> rows, int threads) {
  Matrix<float> all(rows.rows(), axes.rows());
  parallel_for(threads, rows.rows(), [&](std::size_t i) {
    const AxisNumbers numbers = along_axes(axes, rows.row(i));
    std::copy_n(numbers.begin(), axes.rows(), all.row(i).begin());
  });
  return all;
}

// Of two rows whose product is `cosine`.
double closeness(double cosine, const AxisNumbers& a, std::span<const float> b) {
  double square = 0.0;
  for (std::size_t j = 0; j < b.size(); ++j) {
    const double difference = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    square += difference * difference;
  }
  return cosine + square / 2.0;
}

}  // namespace

SupportIndex::SupportIndex(const FeatureTransform& transform, const SupportSet& support, int threads,
                           std::size_t classes)
    : SupportIndex(transform, support.features.clone(), support.labels, threads, classes) {}

SupportIndex::SupportIndex(const FeatureTransform& transform, Matrix<float>&& rows, std::vector<std::int32_t> labels,
                           int threads, std::size_t classes)
    : transform_(transform), rows_(std::move(rows)), labels_(std::move(labels)) {
  prepare_rows(transform_, rows_.view(), 0, threads);
  if (!labels_.empty()) {
    classes = std::max(classes, static_cast<std::size_t>(*std::ranges::max_element(labels_)) + 1);
  }
  means_ = Matrix<float>(classes, rows_.cols());
  of_class_.resize(classes);
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto c = static_cast<std::size_t>(labels_[i]);
    add_row(std::as_const(rows_).row(i), means_.row(c));
    of_class_[c].push_back(i);
  }
  for (std::size_t c = 0; c < classes; ++c) {
    sum_lengths_.push_back(std::sqrt(squared_length(std::as_const(means_).row(c))));
    if (sum_lengths_[c] > 0.0F) scale_row(means_.row(c), 1.0F / sum_lengths_[c]);
  }
  set_axes({}, threads);
}

template <class Use>
void SupportIndex::for_conditioned(ConstMatrixView<float> rows, int threads, const Use& use) const {
  if (rows.cols() != rows_.cols()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         rows_.cols(), rows.cols());
  }
  parallel_for(threads, (rows.rows() + kRowsTogether - 1) / kRowsTogether, [&](std::size_t block) {
    const std::size_t first = block * kRowsTogether;
    Matrix<float> transformed(std::min(kRowsTogether, rows.rows() - first), rows.cols());
    for (std::size_t i = 0; i < transformed.rows(); ++i) {
      std::copy(rows.row(first + i).begin(), rows.row(first + i).end(), transformed.row(i).begin());
    }
    prepare_rows(transform_, transformed.view(), first);
    use(first, std::as_const(transformed).view());
  });
}

std::vector<std::vector<NearExample>> SupportIndex::nearest(ConstMatrixView<float> rows, std::size_t count, int threads,
                                                            const std::vector<std::size_t>& without) const {
  std::vector<std::vector<NearExample>> found(rows.rows());
  for_conditioned(rows, threads, [&](std::size_t first, ConstMatrixView<float> transformed) {
    if (count == 0) return;
    Matrix<float> cosines(transformed.rows(), std::min(kTile, rows_.rows()));
    for (std::size_t tile = 0; tile < rows_.rows(); tile += kTile) {
      const auto some = rows_.view().rows_at(tile, std::min(kTile, rows_.rows() - tile));
      const MatrixView<float> out(cosines.data(), transformed.rows(), some.rows(), cosines.view().stride());
      gemm(Transpose::kNo, Transpose::kYes, 1.0F, transformed, some, 0.0F, out, 1);
      for (std::size_t i = 0; i < transformed.rows(); ++i) {
        take_in(out.row(i), tile, count, without.empty() ? rows_.rows() : without[first + i], found[first + i]);
      }
    }
  });
  return found;
}

SupportIndex::Projections SupportIndex::project(Matrix<float> axes, int threads) const {
  Matrix<float> rows = all_along_axes(axes.view(), rows_.view(), threads);
  Matrix<float> means = all_along_axes(axes.view(), means_.view(), threads);
  return {std::move(axes), std::move(rows), std::move(means)};
}

void SupportIndex::set_axes(Matrix<float> axes, int threads) { projections_ = project(std::move(axes), threads); }

std::vector<ClassNearness> SupportIndex::near_class(ConstMatrixView<float> rows, std::span<const std::int32_t> classes,
                                                    int threads) const {
  std::vector<ClassNearness> found(rows.rows());
  for_conditioned(rows, threads, [&](std::size_t first, ConstMatrixView<float> transformed) {
    for (std::size_t i = 0; i < transformed.rows(); ++i) {
      found[first + i] = near(transformed.row(i), classes[first + i], projections_, rows_.rows());
    }
  });
  return found;
}

ClassNearness SupportIndex::near(std::span<const float> row, std::int32_t label, const Projections& projections,
                                 std::size_t without) const {
  const auto c = static_cast<std::size_t>(label);
  const AxisNumbers along = along_axes(projections.axes.view(), row);
  if (c >= of_class_.size() || of_class_[c].empty()) {
    const auto of_zeros = static_cast<float>(closeness(0.0, along, AxisNumbers{}));
    return {0.0F, of_zeros, of_zeros};
  }
  double cosine = -1.0;
  double row_closeness = -1.0;
  for (const std::size_t other : of_class_[c]) {
    if (other == without) continue;
    const double found = product(row, rows_.row(other));
    cosine = std::max(cosine, found);
    row_closeness = std::max(row_closeness, closeness(found, along, projections.rows.row(other)));
  }
  double mean_closeness = -1.0;
  if (without >= labels_.size() || labels_[without] != label) {
    mean_closeness = closeness(product(row, means_.row(c)), along, projections.means.row(c));
  } else if (const std::vector<float> mean = mean_without(without); !mean.empty()) {
    mean_closeness = closeness(product(row, mean), along, along_axes(projections.axes.view(), mean));
  }
  return {static_cast<float>(cosine), static_cast<float>(row_closeness), static_cast<float>(mean_closeness)};
}

std::vector<float> SupportIndex::mean_without(std::size_t left_out) const {
  const auto c = static_cast<std::size_t>(labels_[left_out]);
  std::vector<float> mean(means_.row(c).begin(), means_.row(c).end());
  scale_row(std::span<float>(mean), sum_lengths_[c]);
  subtract_row(rows_.row(left_out), mean);
  const auto left = static_cast<double>(squared_length(std::span<const float>(mean)));
  if (left < kLeastSquare) return {};
  scale_row(std::span<float>(mean), static_cast<float>(1.0 / std::sqrt(left)));
  return mean;
}

std::vector<std::vector<ClassNearness>> SupportIndex::near_class_without(
    std::span<const std::size_t> left_out, const std::vector<std::vector<std::int32_t>>& classes, int threads) const {
  std::vector<std::vector<ClassNearness>> found(classes.size(), std::vector<ClassNearness>(left_out.size()));
  const std::size_t parts = std::min(kSpreadParts, left_out.size());
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<std::size_t> unseen;
    for (std::size_t i = part; i < left_out.size(); i += parts) unseen.push_back(left_out[i]);
    std::sort(unseen.begin(), unseen.end());
    const Projections projections = project(class_spread_axes(rows(), labels_, threads, unseen), threads);
    parallel_for(threads, unseen.size(), [&](std::size_t number) {
      const std::size_t i = part + number * parts;
      for (std::size_t list = 0; list < classes.size(); ++list) {
        found[list][i] = near(rows_.row(left_out[i]), classes[list][i], projections, left_out[i]);
      }
    });
  }
  return found;
}

std::vector<std::size_t> rows_to_index(std::span<const std::int32_t> labels, const std::vector<bool>& wanted) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels.size() <= kMostIndexed || wanted[static_cast<std::size_t>(labels[i])]) rows.push_back(i);
  }
  return rows;
}

void for_each_conditioned(const FeatureTransform& transform, const SupportSet& support,
                          std::span<const std::size_t> rows, int threads,
                          const std::function<void(std::size_t, std::span<const float>)>& use) {
  constexpr std::size_t kTogether = 1024;
  Matrix<float> block(std::min(kTogether, rows.size()), support.features.cols());
  for (std::size_t first = 0; first < rows.size(); first += kTogether) {
    const auto some = rows.subspan(first, std::min(kTogether, rows.size() - first));
    const auto view = block.view().rows_at(0, some.size());
    fetch_rows(support.partition, support.features.view(), some, view);
    prepare_rows(transform, view, first, threads);
    for (std::size_t i = 0; i < some.size(); ++i) use(first + i, view.row(i));
  }
}

}  // namespace annulus
