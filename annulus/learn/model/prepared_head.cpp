// Logits, probabilities and classes of raw rows, in blocks.
#include "annulus/learn/model/prepared_head.h"

#include <algorithm>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/base/parallel_progress.h"
#include "annulus/kernels/gemm.h"
#include "annulus/kernels/narrow_gemm.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {
namespace {

// Logits of raw rows as they are after normalisation, which is worked into the logits: no row is copied. `first` is the
// number of the first row, for messages.
void compute_raw_logits(const Head<float>& head, ConstMatrixView<float> weights, ConstMatrixView<float> rows,
                        std::size_t first, MatrixView<float> out) {
  gemm(Transpose::kNo, Transpose::kYes, 1.0F, rows, weights, 0.0F, out, 1);
  for (std::size_t i = 0; i < out.rows(); ++i) {
    const float length = checked_length(rows.row(i), first + i);
    if (head.kind == HeadKind::kCosine) {
      scale_row(out.row(i), static_cast<float>(kCosineScale / (1.0 + kNormGuard)) / length);
    } else {
      scale_row(out.row(i), 1.0F / length);
      add_row(std::span<const float>(head.bias), out.row(i));
    }
  }
}

// The weights that rows of length 1 are multiplied by; only those of a cosine head are computed, into `buffer`.
ConstMatrixView<float> weights_of(const Head<float>& head, Matrix<float>& buffer) {
  if (head.kind != HeadKind::kCosine) return head.direction.view();
  buffer = Matrix<float>(head.classes(), head.dimension());
  effective_weights(head, buffer.view());
  return std::as_const(buffer).view();
}

constexpr std::size_t kBlockRows = 256;

// Calls use(first row, logits) for blocks of rows, so that logits of many rows never stand in memory together; several
// at a time.
template <class Use>
void for_logit_blocks(const Head<float>& head, ConstMatrixView<float> effective, ConstMatrixView<float> features,
                      std::size_t block_rows, int threads, const ProgressCallback& progress, const Use& use) {
  if (features.cols() != head.dimension()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         head.dimension(), features.cols());
  }
  const std::size_t blocks = (features.rows() + block_rows - 1) / block_rows;
  parallel_for_with_progress(threads, blocks, "predict", progress, [&](std::size_t block) {
    // Kept by each thread: episodes come here thousands of times a second.
    thread_local Matrix<float> buffer;
    const std::size_t first = block * block_rows;
    const auto logits = reuse(buffer, std::min(block_rows, features.rows() - first), head.classes());
    if (head.transform.any()) {
      thread_local Matrix<float> transformed;
      const auto rows = reuse(transformed, logits.rows(), features.cols());
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        std::copy(features.row(first + i).begin(), features.row(first + i).end(), rows.row(i).begin());
      }
      transform_rows(head.transform, rows);
      compute_raw_logits(head, effective, rows, first, logits);
    } else {
      compute_raw_logits(head, effective, features.rows_at(first, logits.rows()), first, logits);
    }
    use(first, logits);
  });
}

void copy_logits(const Head<float>& head, ConstMatrixView<float> effective, ConstMatrixView<float> features,
                 std::size_t block_rows, MatrixView<float> out, int threads, const ProgressCallback& progress) {
  for_logit_blocks(head, effective, features, block_rows, threads, progress,
                   [&](std::size_t first, MatrixView<float> logits) {
                     for (std::size_t i = 0; i < logits.rows(); ++i) {
                       std::copy(logits.row(i).begin(), logits.row(i).end(), out.row(first + i).begin());
                     }
                   });
}

std::vector<std::int32_t> largest_logits(const Head<float>& head, ConstMatrixView<float> effective,
                                         ConstMatrixView<float> features, std::size_t block_rows, int threads,
                                         const ProgressCallback& progress) {
  std::vector<std::int32_t> classes(features.rows());
  for_logit_blocks(head, effective, features, block_rows, threads, progress,
                   [&](std::size_t first, MatrixView<float> logits) {
                     for (std::size_t i = 0; i < logits.rows(); ++i) {
                       classes[first + i] = static_cast<std::int32_t>(argmax(std::span<const float>(logits.row(i))));
                     }
                   });
  return classes;
}

}  // namespace

void prepare_rows(const FeatureTransform& transform, MatrixView<float> rows, std::size_t first, int threads) {
  parallel_for(threads, (rows.rows() + kBlockRows - 1) / kBlockRows, [&](std::size_t block) {
    const std::size_t begin = block * kBlockRows;
    const auto part = rows.rows_at(begin, std::min(kBlockRows, rows.rows() - begin));
    transform_rows(transform, part);
    for (std::size_t i = 0; i < part.rows(); ++i) {
      scale_row(part.row(i), 1.0F / checked_length(part.row(i), first + begin + i));
    }
  });
}

void predict_logits(const Head<float>& head, ConstMatrixView<float> features, MatrixView<float> out, int threads) {
  Matrix<float> buffer;
  copy_logits(head, weights_of(head, buffer), features, kBlockRows, out, threads, {});
}

PreparedHead::PreparedHead(const Head<float>& head) : head_(head) { weights_of(head, weights_); }

ConstMatrixView<float> PreparedHead::weights() const {
  return weights_.rows() == 0 ? head_.direction.view() : weights_.view();
}

// Products of at most kNarrow rows have a kernel of their own that sums every row alike.
void PreparedHead::logits(ConstMatrixView<float> features, MatrixView<float> out, int threads,
                          const ProgressCallback& progress) const {
  copy_logits(head_, weights(), features, kNarrow, out, threads, progress);
}

std::vector<std::int32_t> PreparedHead::classes(ConstMatrixView<float> features, int threads,
                                                const ProgressCallback& progress) const {
  return largest_logits(head_, weights(), features, kNarrow, threads, progress);
}

void to_probabilities(MatrixView<float> logits, double temperature) {
  for (std::size_t i = 0; i < logits.rows(); ++i) scale_row(logits.row(i), static_cast<float>(1.0 / temperature));
  softmax_rows(logits);
}

void predict_probabilities(const Head<float>& head, double temperature, ConstMatrixView<float> features,
                           MatrixView<float> out, int threads) {
  predict_logits(head, features, out, threads);
  to_probabilities(out, temperature);
}

std::vector<std::int32_t> predict_classes(const Head<float>& head, ConstMatrixView<float> features, int threads) {
  Matrix<float> buffer;
  return largest_logits(head, weights_of(head, buffer), features, kBlockRows, threads, {});
}

}  // namespace annulus
