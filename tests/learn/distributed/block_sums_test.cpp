// Sums of a softmax whose classes are in blocks of several processes, here threads.
#include "annulus/learn/distributed/block_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

// Two training examples and one noise row. The first process holds the label of the first example, the second that of
// the second; the first example is classified correctly, the second is not.
TEST(BlockSums, EveryProcessGetsTheTotalsAndTheFirstCountsThem) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  run_processes(2, [&](Communicator& blocks) {
    const bool first = blocks.rank() == 0;
    Matrix<double> memory(6, 1);
    BlockSums<double> sums(memory.view(), true);
    const BlockStatistics<double> own = sums.own(0, 2);
    own.log_sum(0, 0) = std::log(first ? 2.0 : 3.0);
    own.log_sum(1, 0) = std::log(first ? 7.0 : 1.0);
    own.largest(0, 0) = first ? 1.5 : 0.5;
    own.label(0, 0) = first ? 1.5 : kNone;
    own.largest(1, 0) = first ? 2.0 : 1.0;
    own.label(1, 0) = first ? kNone : 1.0;
    sums.start(blocks);
    sums.go_on(blocks);
    sums.finish();
    EXPECT_NEAR(sums.log_sum(0, 2)(0, 0), std::log(5.0), 1e-12);
    EXPECT_NEAR(sums.log_sum(0, 2)(1, 0), std::log(8.0), 1e-12);
    const StepSums common = sums.common(0, 2, 1.0);
    EXPECT_NEAR(common.loss, first ? std::log(5.0) + std::log(8.0) : 0.0, 1e-12);
    EXPECT_EQ(common.correct, first ? 1.0 : 0.0);
    EXPECT_NEAR(sums.common(0, 1, 3.0).loss, first ? 3.0 * std::log(5.0) : 0.0, 1e-12) << "a weight of 3";
  });
}

}  // namespace
}  // namespace annulus
