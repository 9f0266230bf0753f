// A head in training: its effective weights, Adam's moments and Adam's update.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "annulus/base/parallel.h"
#include "annulus/kernels/adam.h"
#include "annulus/learn/distributed/fit_checkpoint.h"
#include "annulus/learn/method/gradient.h"
#include "annulus/learn/method/head.h"

namespace annulus {

template <class T>
class HeadUpdater {
 public:
  explicit HeadUpdater(Head<T>& head)
      : head_(head),
        first_(head.classes(), head.dimension()),
        second_(head.classes(), head.dimension()),
        first_offset_(head.classes()),
        second_offset_(head.classes()),
        offset_gradient_(head.classes()) {
    if (head.kind == HeadKind::kCosine) {
      weights_ = Matrix<T>(head.classes(), head.dimension());
      effective_weights(head, weights_.view());
    }
  }

  HeadView<T> view() const {
    const bool cosine = head_.kind == HeadKind::kCosine;
    return {head_.kind, cosine ? weights_.view() : std::as_const(head_.direction).view(), head_.bias};
  }

  // Adam's step number `step` (from 1) on some classes. Their gradient.weights become the gradient of the directions.
  void update(StepGradient<T>& gradient, Slice classes, double learning_rate, std::size_t step, int threads) {
    const auto adam = AdamStep<T>::at(learning_rate, step);
    const std::size_t dimension = head_.dimension();
    constexpr std::size_t kRowsPerTask = 32;
    parallel_for(threads, (classes.count + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
      const std::size_t end = classes.first + std::min(classes.count, (task + 1) * kRowsPerTask);
      for (std::size_t c = classes.first + task * kRowsPerTask; c < end; ++c) {
        const AdamMoments<T> moments{first_.row(c).data(), second_.row(c).data(), &first_offset_[c],
                                     &second_offset_[c]};
        T* direction = head_.direction.row(c).data();
        T* row_gradient = gradient.weights.row(c).data();
        if (head_.kind == HeadKind::kCosine) {
          offset_gradient_[c] = adam_weight_norm_row(adam, dimension, direction, &head_.gain[c], row_gradient, moments,
                                                     weights_.row(c).data());
        } else {
          offset_gradient_[c] = gradient.bias[c];
          adam_plain_row(adam, dimension, direction, &head_.bias[c], static_cast<const T*>(row_gradient),
                         gradient.bias[c], moments);
        }
      }
    });
  }

  std::span<const T> offset_gradient() const { return offset_gradient_; }

  // What a checkpoint keeps, in float alone: the head, of which this is the block that starts at class `first` of
  // `classes`.
  std::vector<KeptNumbers> kept_head(std::size_t first, std::size_t classes) {
    std::vector<KeptNumbers> kept;
    keep(head_.direction, first, classes, kept);
    keep(head_.kind == HeadKind::kCosine ? head_.gain : head_.bias, first, classes, kept);
    return kept;
  }
  // Everything that the next step depends on.
  std::vector<KeptNumbers> kept_state(std::size_t first, std::size_t classes) {
    std::vector<KeptNumbers> kept = kept_head(first, classes);
    if (head_.kind == HeadKind::kCosine) keep(weights_, first, classes, kept);
    for (Matrix<T>* moments : {&first_, &second_}) keep(*moments, first, classes, kept);
    for (std::vector<T>* moments : {&first_offset_, &second_offset_}) keep(*moments, first, classes, kept);
    return kept;
  }

 private:
  static void keep(Matrix<T>& rows, std::size_t first, std::size_t classes, std::vector<KeptNumbers>& kept) {
    if constexpr (std::is_same_v<T, float>) {
      kept.push_back({{rows.data(), rows.rows() * rows.cols()}, first * rows.cols(), classes * rows.cols()});
    }
  }
  static void keep(std::vector<T>& numbers, std::size_t first, std::size_t classes, std::vector<KeptNumbers>& kept) {
    if constexpr (std::is_same_v<T, float>) kept.push_back({numbers, first, classes});
  }

  Head<T>& head_;
  Matrix<T> weights_;
  Matrix<T> first_;
  Matrix<T> second_;
  std::vector<T> first_offset_;
  std::vector<T> second_offset_;
  std::vector<T> offset_gradient_;
};

}  // namespace annulus
