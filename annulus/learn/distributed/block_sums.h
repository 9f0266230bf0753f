// The sums of a softmax whose classes are held in blocks by several processes: each adds its own, all get the totals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "annulus/base/distributed/communicator.h"
#include "annulus/base/matrix.h"
#include "annulus/kernels/block_softmax.h"
#include "annulus/learn/method/gradient.h"

namespace annulus {

// Training examples [first, first + count) of logits.
template <class T>
VirtualLogits<T> part_of(const VirtualLogits<T>& logits, std::size_t first, std::size_t count) {
  return {logits.example.rows_at(first, count), logits.noise, logits.scale.rows_at(first, count),
          logits.labels.subspan(first, count)};
}

// Of the pairs of noise rows and some training examples of a step, numbered from the first of them.
template <class T>
class BlockSums {
 public:
  // `memory` has three rows for each training example, which stand together, and a column for each noise row.
  BlockSums(MatrixView<T> memory, bool count_correct)
      : memory_(memory), examples_(memory.rows() / 3), count_correct_(count_correct) {}

  // Where the block's own statistics of some training examples go.
  BlockStatistics<T> own(std::size_t first, std::size_t count) const {
    return {memory_.rows_at(first, count), memory_.rows_at(examples_ + first, count),
            memory_.rows_at(2 * examples_ + first, count)};
  }

  // The totals, in two exchanges of a number a pair, and two more numbers where correct are counted: each of start()
  // and go_on() begins one, go_on() and finish() wait for the one before.
  void start(Communicator& blocks) {
    const std::span<T> log_sums = log_sums_of_all();
    sums_.assign(log_sums.begin(), log_sums.end());
    pending_ =
        blocks.start_largest(std::span<T>(memory_.data(), count_correct_ ? 3 * log_sums.size() : log_sums.size()));
    first_ = blocks.rank() == 0;
  }
  void go_on(Communicator& blocks) {
    std::exchange(pending_, nullptr)->wait();
    const std::span<T> log_sums = log_sums_of_all();
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] = std::exp(sums_[i] - log_sums[i]);
    pending_ = blocks.start_sum(std::span<T>(sums_));
  }
  void finish() {
    std::exchange(pending_, nullptr)->wait();
    const std::span<T> log_sums = log_sums_of_all();
    for (std::size_t i = 0; i < sums_.size(); ++i) log_sums[i] += std::log(sums_[i]);
  }

  // What stands for all blocks together, once that is finished.
  ConstMatrixView<T> log_sum(std::size_t first, std::size_t count) const { return memory_.rows_at(first, count); }
  // The part of loss and correct that no block has by itself: the first block counts it.
  StepSums common(std::size_t first, std::size_t count, double weight) const {
    StepSums sums;
    if (!first_) return sums;
    const BlockStatistics<T> all = own(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t r = 0; r < memory_.cols(); ++r) {
        sums.loss += weight * static_cast<double>(all.log_sum(i, r));
        if (count_correct_ && all.label(i, r) >= all.largest(i, r)) sums.correct += weight;
      }
    }
    return sums;
  }

 private:
  std::span<T> log_sums_of_all() const { return {memory_.data(), examples_ * memory_.cols()}; }

  MatrixView<T> memory_;
  std::size_t examples_ = 0;
  bool count_correct_ = false;
  bool first_ = false;
  std::vector<T> sums_;
  std::unique_ptr<Communicator::Pending> pending_;
};

}  // namespace annulus
