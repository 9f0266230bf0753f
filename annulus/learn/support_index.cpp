// Nearest support rows, by matrix products on blocks of rows.
#include "annulus/learn/support_index.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/narrow_gemm.h"
#include "annulus/learn/prediction.h"

namespace annulus {
namespace {

constexpr std::size_t kBlockRows = kNarrow;  // so that a row's bits do not depend on the rows beside it

// One pass with the best so far in order: few are asked for, and nearly all rows are worse than the last of them.
std::vector<NearRow> nearest_of(std::span<const float> cosines, std::size_t count, std::size_t without) {
  std::vector<NearRow> near;
  if (count == 0) return near;
  near.reserve(std::min(count, cosines.size()) + 1);
  for (std::size_t j = 0; j < cosines.size(); ++j) {
    if (j == without || (near.size() == count && !(cosines[j] > near.back().cosine))) continue;
    // Of equals the lower number stays before.
    const auto place = std::upper_bound(near.begin(), near.end(), cosines[j],
                                        [](float cosine, const NearRow& other) { return cosine > other.cosine; });
    near.insert(place, {j, cosines[j]});
    if (near.size() > count) near.pop_back();
  }
  return near;
}

}  // namespace

SupportIndex::SupportIndex(const Conditioning& conditioning, const SupportRows& support)
    : conditioning_(conditioning), rows_(support.features.clone()) {
  prepare_rows(conditioning_, rows_.view());
}

std::vector<std::vector<NearRow>> SupportIndex::nearest(ConstMatrixView<float> rows, std::size_t count, int threads,
                                                        const std::vector<std::size_t>& without) const {
  if (rows.cols() != rows_.cols()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         rows_.cols(), rows.cols());
  }
  std::vector<std::vector<NearRow>> found(rows.rows());
  parallel_for(threads, (rows.rows() + kBlockRows - 1) / kBlockRows, [&](std::size_t block) {
    const std::size_t first = block * kBlockRows;
    Matrix<float> conditioned(std::min(kBlockRows, rows.rows() - first), rows.cols());
    for (std::size_t i = 0; i < conditioned.rows(); ++i) {
      std::copy(rows.row(first + i).begin(), rows.row(first + i).end(), conditioned.row(i).begin());
    }
    prepare_rows(conditioning_, conditioned.view(), first);
    Matrix<float> cosines(conditioned.rows(), rows_.rows());
    gemm(Transpose::kNo, Transpose::kYes, 1.0F, std::as_const(conditioned).view(), rows_.view(), 0.0F, cosines.view(),
         1);
    for (std::size_t i = 0; i < conditioned.rows(); ++i) {
      found[first + i] = nearest_of(cosines.row(i), count, without.empty() ? rows_.rows() : without[first + i]);
    }
  });
  return found;
}

}  // namespace annulus
