// Nearest support rows, by matrix products on blocks of rows.
#include "annulus/learn/support_index.h"

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
#include "annulus/learn/class_spread.h"
#include "annulus/learn/prediction.h"

namespace annulus {
namespace {

constexpr double kLeastSquare = 1e-6;           // of the length of what is left of a class
constexpr std::size_t kRowsTogether = kNarrow;  // so that a row's bits do not depend on the rows beside it
constexpr std::size_t kSpreadParts = 10;        // in which rows are left out of the axes
constexpr std::size_t kTile = 1024;             // support rows at a time: their cosines stay in the cache

// Takes in the cosines of support rows [first, first + cosines.size()), with the best so far in order: few are asked
// for, and nearly all rows are worse than the last of them.
void take_in(std::span<const float> cosines, std::size_t first, std::size_t count, std::size_t without,
             std::vector<NearRow>& near) {
  for (std::size_t j = 0; j < cosines.size(); ++j) {
    if (first + j == without || (near.size() == count && !(cosines[j] > near.back().cosine))) continue;
    // Of equals the lower number stays before.
    const auto place = std::upper_bound(near.begin(), near.end(), cosines[j],
                                        [](float cosine, const NearRow& other) { return cosine > other.cosine; });
    near.insert(place, {first + j, cosines[j]});
    if (near.size() > count) near.pop_back();
  }
}

void subtract(std::span<const float> from, std::span<const float> row, std::span<float> out) {
  std::transform(from.begin(), from.end(), row.begin(), out.begin(), std::minus<>());
}

float close_to(std::span<const float> row, std::span<const float> mean, double along) {
  return static_cast<float>(std::inner_product(row.begin(), row.end(), mean.begin(), 0.0) + along / 2.0);
}

}  // namespace

SupportIndex::SupportIndex(const Conditioning& conditioning, const SupportRows& support, int threads,
                           std::size_t classes)
    : SupportIndex(conditioning, support.features.clone(), support.labels, threads, classes) {}

SupportIndex::SupportIndex(const Conditioning& conditioning, Matrix<float>&& rows, std::vector<std::int32_t> labels,
                           int threads, std::size_t classes)
    : conditioning_(conditioning), rows_(std::move(rows)), labels_(std::move(labels)), no_mean_(rows_.cols(), 0.0F) {
  prepare_rows(conditioning_, rows_.view(), 0, threads);
  if (!labels_.empty()) {
    classes = std::max(classes, static_cast<std::size_t>(*std::ranges::max_element(labels_)) + 1);
  }
  means_ = Matrix<float>(classes, rows_.cols());
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    add_row(std::as_const(rows_).row(i), means_.row(static_cast<std::size_t>(labels_[i])));
  }
  for (std::size_t c = 0; c < classes; ++c) {
    sum_lengths_.push_back(std::sqrt(squared_length(std::as_const(means_).row(c))));
    if (sum_lengths_[c] > 0.0F) scale_row(means_.row(c), 1.0F / sum_lengths_[c]);
  }
}

template <class Use>
void SupportIndex::for_conditioned(ConstMatrixView<float> rows, int threads, const Use& use) const {
  if (rows.cols() != rows_.cols()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         rows_.cols(), rows.cols());
  }
  parallel_for(threads, (rows.rows() + kRowsTogether - 1) / kRowsTogether, [&](std::size_t block) {
    const std::size_t first = block * kRowsTogether;
    Matrix<float> conditioned(std::min(kRowsTogether, rows.rows() - first), rows.cols());
    for (std::size_t i = 0; i < conditioned.rows(); ++i) {
      std::copy(rows.row(first + i).begin(), rows.row(first + i).end(), conditioned.row(i).begin());
    }
    prepare_rows(conditioning_, conditioned.view(), first);
    use(first, std::as_const(conditioned).view());
  });
}

std::vector<std::vector<NearRow>> SupportIndex::nearest(ConstMatrixView<float> rows, std::size_t count, int threads,
                                                        const std::vector<std::size_t>& without) const {
  std::vector<std::vector<NearRow>> found(rows.rows());
  for_conditioned(rows, threads, [&](std::size_t first, ConstMatrixView<float> conditioned) {
    if (count == 0) return;
    Matrix<float> cosines(conditioned.rows(), std::min(kTile, rows_.rows()));
    for (std::size_t tile = 0; tile < rows_.rows(); tile += kTile) {
      const auto some = rows_.view().rows_at(tile, std::min(kTile, rows_.rows() - tile));
      const MatrixView<float> out(cosines.data(), conditioned.rows(), some.rows(), cosines.view().stride());
      gemm(Transpose::kNo, Transpose::kYes, 1.0F, conditioned, some, 0.0F, out, 1);
      for (std::size_t i = 0; i < conditioned.rows(); ++i) {
        take_in(out.row(i), tile, count, without.empty() ? rows_.rows() : without[first + i], found[first + i]);
      }
    }
  });
  return found;
}

std::vector<float> SupportIndex::closeness(ConstMatrixView<float> rows, std::span<const std::int32_t> classes,
                                           ConstMatrixView<float> axes, int threads) const {
  std::vector<float> found(rows.rows(), 0.0F);
  for_conditioned(rows, threads, [&](std::size_t first, ConstMatrixView<float> conditioned) {
    std::vector<float> difference(conditioned.cols());
    for (std::size_t i = 0; i < conditioned.rows(); ++i) {
      const auto mean = mean_of(classes[first + i]);
      subtract(conditioned.row(i), mean, difference);
      found[first + i] = close_to(conditioned.row(i), mean, along_axes(axes, difference));
    }
  });
  return found;
}

std::vector<float> SupportIndex::closeness_without(std::span<const std::size_t> left_out,
                                                   std::span<const std::int32_t> classes, int threads) const {
  std::vector<float> found(left_out.size(), 0.0F);
  const std::size_t parts = std::min(kSpreadParts, left_out.size());
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<std::size_t> unseen;
    for (std::size_t i = part; i < left_out.size(); i += parts) unseen.push_back(left_out[i]);
    std::sort(unseen.begin(), unseen.end());
    const Matrix<float> axes = class_spread_axes(rows(), labels_, threads, unseen);
    parallel_for(threads, unseen.size(), [&](std::size_t number) {
      const std::size_t i = part + number * parts;
      found[i] = close_without(left_out[i], classes[i], axes.view());
    });
  }
  return found;
}

std::span<const float> SupportIndex::mean_of(std::int32_t label) const {
  const auto c = static_cast<std::size_t>(label);
  return c < means_.rows() ? means_.row(c) : std::span<const float>(no_mean_);
}

float SupportIndex::close_without(std::size_t left_out, std::int32_t label, ConstMatrixView<float> axes) const {
  const auto row = rows_.row(left_out);
  std::vector<float> mean(mean_of(label).begin(), mean_of(label).end());
  if (labels_[left_out] == label) {
    scale_row(std::span<float>(mean), sum_lengths_[static_cast<std::size_t>(label)]);
    subtract(mean, row, mean);
    const auto left = static_cast<double>(squared_length(std::span<const float>(mean)));
    if (left < kLeastSquare) return -1.0F;
    scale_row(std::span<float>(mean), static_cast<float>(1.0 / std::sqrt(left)));
  }
  std::vector<float> difference(row.size());
  subtract(row, mean, difference);
  return close_to(row, mean, along_axes(axes, difference));
}

std::vector<std::size_t> rows_to_index(std::span<const std::int32_t> labels, const std::vector<bool>& wanted) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels.size() <= kMostIndexed || wanted[static_cast<std::size_t>(labels[i])]) rows.push_back(i);
  }
  return rows;
}

void for_each_conditioned(const Conditioning& conditioning, const SupportRows& support,
                          std::span<const std::size_t> rows, int threads,
                          const std::function<void(std::size_t, std::span<const float>)>& use) {
  constexpr std::size_t kTogether = 1024;
  Matrix<float> block(std::min(kTogether, rows.size()), support.features.cols());
  for (std::size_t first = 0; first < rows.size(); first += kTogether) {
    const auto some = rows.subspan(first, std::min(kTogether, rows.size() - first));
    const auto view = block.view().rows_at(0, some.size());
    fetch_rows(support.cut, support.features.view(), some, view);
    prepare_rows(conditioning, view, first, threads);
    for (std::size_t i = 0; i < some.size(); ++i) use(first + i, view.row(i));
  }
}

}  // namespace annulus
