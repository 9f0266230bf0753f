// How the gradient of a step becomes that of the whole batch before Adam uses it.
#pragma once

#include <functional>

#include "annulus/base/slice.h"
#include "annulus/learn/method/gradient.h"

namespace annulus {

// This one is for a process that sees whole batches: there is nothing to reduce. OverlappedReducer sums the gradients
// of several processes.
template <class T>
class GradientReducer {
 public:
  // Uses the gradient of some classes: Adam's update.
  using Update = std::function<void(Slice classes)>;

  GradientReducer() = default;
  virtual ~GradientReducer() = default;
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // Called once, before the first step; `gradient` stays where it is until the last.
  virtual void prepare(StepGradient<T>& /*gradient*/) {}
  // Calls `update` as soon as the gradient of some classes is that of the whole batch, until all were updated.
  virtual void reduce(StepGradient<T>& gradient, const Update& update) { update(gradient.learning_classes()); }
};

}  // namespace annulus
