// Logits and probabilities of raw rows, in blocks that are prepared one by one.
#include "annulus/learn/prediction.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/kernels/softmax_loss.h"

namespace annulus {

void prepare_rows(const Conditioning& conditioning, MatrixView<float> rows, std::size_t first) {
  condition_rows(conditioning, rows);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const float length = std::sqrt(squared_length(std::span<const float>(rows.row(i))));
    if (!(length > 0.0F) || !std::isfinite(length)) {
      fail(ErrorKind::kInput, "expected feature rows with a length to normalise, found length {} at row {}", length,
           first + i);
    }
    scale_row(rows.row(i), 1.0F / length);
  }
}

void predict_logits(const Head<float>& head, ConstMatrixView<float> features, MatrixView<float> out, int threads) {
  if (features.cols() != head.dimension()) {
    fail(ErrorKind::kInput, "expected features of dimension {}, as the model was trained on, found dimension {}",
         head.dimension(), features.cols());
  }
  constexpr std::size_t kBlockRows = 1024;
  Matrix<float> prepared(std::min(kBlockRows, features.rows()), features.cols());
  for (std::size_t first = 0; first < features.rows(); first += kBlockRows) {
    const auto rows = prepared.view().rows_at(0, std::min(kBlockRows, features.rows() - first));
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      std::copy(features.row(first + i).begin(), features.row(first + i).end(), rows.row(i).begin());
    }
    prepare_rows(head.conditioning, rows, first);
    compute_logits<float>(head, rows, out.rows_at(first, rows.rows()), threads);
  }
}

void predict_probabilities(const Head<float>& head, double temperature, ConstMatrixView<float> features,
                           MatrixView<float> out, int threads) {
  predict_logits(head, features, out, threads);
  for (std::size_t i = 0; i < out.rows(); ++i) scale_row(out.row(i), static_cast<float>(1.0 / temperature));
  softmax_rows(out);
}

}  // namespace annulus
