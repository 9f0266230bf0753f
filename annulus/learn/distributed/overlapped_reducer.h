// Sums the gradients of processes that see different training examples, while the rest of the gradient is computed.
#pragma once

#include <memory>
#include <vector>

#include "annulus/base/distributed/communicator.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/gradient_reducer.h"

namespace annulus {

// The gradient is summed in chunks of classes. A chunk is sent as soon as the engine has computed it, and updated as
// soon as its sum has arrived, so that communication overlaps with the last product and with Adam's updates.
template <class T>
class OverlappedReducer : public GradientReducer<T> {
 public:
  // `members` hold the same classes and see different training examples.
  explicit OverlappedReducer(Communicator& members) : members_(members) {}

  void prepare(StepGradient<T>& gradient) override;
  void reduce(StepGradient<T>& gradient, const typename GradientReducer<T>::Update& update) override;

 private:
  struct Chunk {
    Slice classes;
    std::unique_ptr<Communicator::Pending> sum;
  };

  Communicator& members_;
  std::vector<Chunk> chunks_;  // that are being summed
};

// The reducer for a process's place in the layout.
template <class T>
std::unique_ptr<GradientReducer<T>> make_gradient_reducer(const ParallelLayout& layout);

}  // namespace annulus
