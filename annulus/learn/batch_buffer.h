// The rows of a batch, copied together, or fetched from the processes that hold them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/row_cut.h"
#include "annulus/learn/gradient.h"
#include "annulus/learn/virtual_examples.h"

namespace annulus {

// Labels count from the first class that this process holds.
template <class T>
class BatchBuffer {
 public:
  BatchBuffer(const TrainingRows<T>& rows, std::size_t batch, std::size_t first_class)
      : rows_(rows),
        first_class_(static_cast<std::int32_t>(first_class)),
        features_(std::min(batch, rows.rows()), rows.dimension()),
        coming_(rows.cut.team() == nullptr ? 0 : features_.rows(), rows.dimension()),
        labels_(features_.rows()),
        weights_(rows.weights.empty() ? 0 : features_.rows()) {}

  // The next batch will be of these rows: those of other processes are on their way while this one computes.
  void expect(std::span<const std::uint32_t> order) {
    if (rows_.cut.team() == nullptr || order.empty()) return;
    pending_ = start_fetch(rows_.cut, rows_.features.view(), order, coming_.view());
  }

  // Positions `slice` of the batch of the rows in `order`; valid until the next call.
  StepBatch<T> gather(std::span<const std::uint32_t> order, Slice slice, std::size_t step) {
    const auto chosen = order.subspan(slice.first, slice.count);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      labels_[i] = rows_.labels[chosen[i]] - first_class_;
      if (!weights_.empty()) weights_[i] = rows_.weights[chosen[i]];
    }
    return {features_of(order, slice),
            std::span<const std::int32_t>(labels_).first(chosen.size()),
            step,
            std::span<const T>(weights_).first(weights_.empty() ? 0 : chosen.size()),
            slice.first,
            order.size()};
  }

 private:
  ConstMatrixView<T> features_of(std::span<const std::uint32_t> order, Slice slice) {
    if (rows_.cut.team() != nullptr) {
      if (!pending_) expect(order);
      std::exchange(pending_, nullptr)->wait();
      std::swap(features_, coming_);
      return std::as_const(features_).view().rows_at(slice.first, slice.count);
    }
    const auto chosen = order.subspan(slice.first, slice.count);
    for (const std::uint32_t row : chosen) rows_.features.expect_row(row);
    fetch_rows(rows_.cut, rows_.features.view(), chosen, features_.view());
    return std::as_const(features_).view().rows_at(0, slice.count);
  }

  const TrainingRows<T>& rows_;
  std::int32_t first_class_;
  Matrix<T> features_;
  Matrix<T> coming_;
  std::vector<std::int32_t> labels_;
  std::vector<T> weights_;
  std::unique_ptr<Team::Pending> pending_;  // of the rows in coming_, so that it is let go before them
};

}  // namespace annulus
