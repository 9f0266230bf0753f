// The training examples of a batch, copied together, or fetched from the processes that hold them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/distributed/partition.h"
#include "annulus/base/matrix.h"
#include "annulus/learn/method/gradient.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// The batch that starts at a position of the order; empty at its end.
inline std::span<const std::uint32_t> batch_at(std::span<const std::uint32_t> order, std::size_t first,
                                               std::size_t batch) {
  return order.subspan(first, std::min(batch, order.size() - first));
}

// Labels count from the first class that this process holds.
template <class T>
class BatchBuffer {
 public:
  BatchBuffer(const TrainingExamples<T>& examples, std::size_t batch, std::size_t first_class)
      : examples_(examples),
        first_class_(static_cast<std::int32_t>(first_class)),
        features_(std::min(batch, examples.rows()), examples.dimension()),
        coming_(examples.partition.communicator() == nullptr ? 0 : features_.rows(), examples.dimension()),
        labels_(features_.rows()),
        weights_(examples.weights.empty() ? 0 : features_.rows()) {}

  // The next batch will be of these training examples: those of other processes are on their way while this one
  // computes.
  void expect(std::span<const std::uint32_t> order) {
    if (examples_.partition.communicator() == nullptr || order.empty()) return;
    pending_ = start_fetch(examples_.partition, examples_.features.view(), order, coming_.view());
  }

  // Positions `slice` of the batch of the training examples in `order`; valid until the next call.
  StepBatch<T> gather(std::span<const std::uint32_t> order, Slice slice, std::size_t step) {
    const auto chosen = order.subspan(slice.first, slice.count);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      labels_[i] = examples_.labels[chosen[i]] - first_class_;
      if (!weights_.empty()) weights_[i] = examples_.weights[chosen[i]];
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
    if (examples_.partition.communicator() != nullptr) {
      if (!pending_) expect(order);
      std::exchange(pending_, nullptr)->wait();
      std::swap(features_, coming_);
      return std::as_const(features_).view().rows_at(slice.first, slice.count);
    }
    const auto chosen = order.subspan(slice.first, slice.count);
    for (const std::uint32_t example : chosen) examples_.features.expect_row(example);
    fetch_rows(examples_.partition, examples_.features.view(), chosen, features_.view());
    return std::as_const(features_).view().rows_at(0, slice.count);
  }

  const TrainingExamples<T>& examples_;
  std::int32_t first_class_;
  Matrix<T> features_;
  Matrix<T> coming_;
  std::vector<std::int32_t> labels_;
  std::vector<T> weights_;
  std::unique_ptr<Communicator::Pending> pending_;  // of coming_, after it so that it is destroyed first
};

}  // namespace annulus
