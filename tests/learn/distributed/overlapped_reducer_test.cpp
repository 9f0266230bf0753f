// Gradients of several processes, here threads, summed chunk by chunk.
#include "annulus/learn/distributed/overlapped_reducer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

StepGradient<float> filled_gradient(std::size_t classes, std::size_t dimension, float value) {
  StepGradient<float> gradient{Matrix<float>(classes, dimension), std::vector<float>(classes, value)};
  std::fill_n(gradient.weights.data(), classes * dimension, value);
  return gradient;
}

TEST(OverlappedReducer, EveryClassIsUpdatedOnceWithTheSumOfAllProcesses) {
  constexpr std::size_t kClasses = 150;  // chunks of 37 classes
  run_processes(3, [&](Communicator& communicator) {
    StepGradient<float> gradient = filled_gradient(kClasses, 3, static_cast<float>(communicator.rank() + 1));
    OverlappedReducer<float> reducer(communicator);
    reducer.prepare(gradient);
    EXPECT_EQ(gradient.chunk, 37U);
    for (int step = 0; step < 2; ++step) {
      std::fill_n(gradient.weights.data(), kClasses * 3, static_cast<float>(communicator.rank() + 1));
      gradient.for_chunks(kClasses, gradient.ready);
      std::vector<int> updates(kClasses, 0);
      reducer.reduce(gradient, [&](Slice classes) {
        for (std::size_t c = classes.first; c < classes.first + classes.count; ++c) {
          ++updates[c];
          for (const float value : gradient.weights.row(c)) EXPECT_EQ(value, 6.0F);
        }
      });
      EXPECT_EQ(updates, std::vector<int>(kClasses, 1));
    }
    EXPECT_EQ(gradient.bias.front(), 18.0F) << "summed in both steps";
  });
}

TEST(OverlappedReducer, IsChosenWhereProcessesSeeDifferentExamples) {
  const auto one = make_gradient_reducer<float>(ParallelLayout::one_process());
  EXPECT_EQ(dynamic_cast<OverlappedReducer<float>*>(one.get()), nullptr);
  run_processes(2, [](Communicator& communicator) {
    const ParallelLayout by_examples(communicator, 1, 8);
    const ParallelLayout by_classes(communicator, 2, 8);
    const auto sums = make_gradient_reducer<float>(by_examples);
    const auto keeps = make_gradient_reducer<float>(by_classes);
    EXPECT_NE(dynamic_cast<OverlappedReducer<float>*>(sums.get()), nullptr);
    EXPECT_EQ(dynamic_cast<OverlappedReducer<float>*>(keeps.get()), nullptr);
  });
}

}  // namespace
}  // namespace annulus
