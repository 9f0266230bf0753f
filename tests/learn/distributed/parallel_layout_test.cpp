// Which part of a fit each process of a grid does.
#include "annulus/learn/distributed/parallel_layout.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

TEST(ParallelLayout, CutsClassesOnlyWhereBlocksAreNotTiny) {
  const auto blocks = [](std::size_t ranks, std::size_t classes) {
    std::size_t found = 0;
    run_processes(ranks, [&](Communicator& communicator) {
      const ParallelLayout layout(communicator, 0, classes);
      if (communicator.rank() == 0) found = layout.class_ranks();
    });
    return found;
  };
  EXPECT_EQ(blocks(4, 200), 1U);
  EXPECT_EQ(blocks(4, 600), 2U);
  EXPECT_EQ(blocks(4, 21000), 4U);
  EXPECT_EQ(blocks(6, 1000), 3U);
  EXPECT_THROW(run_processes(4, [](Communicator& communicator) { ParallelLayout(communicator, 3, 100); }), Error);
  // Calibration trains heads of half of the classes, and each block needs one of them.
  EXPECT_THROW(run_processes(4, [](Communicator& communicator) { ParallelLayout(communicator, 4, 7); }), Error);
  EXPECT_NO_THROW(run_processes(4, [](Communicator& communicator) { ParallelLayout(communicator, 4, 8); }));
}

TEST(ParallelLayout, OneProcessHoldsAllClassesAndSeesWholeBatches) {
  const ParallelLayout& alone = ParallelLayout::one_process();
  EXPECT_EQ(alone.class_ranks(), 1U);
  EXPECT_EQ(alone.data_ranks(), 1U);
  EXPECT_EQ(alone.class_block(7).first, 0U);
  EXPECT_EQ(alone.class_block(7).count, 7U);
  EXPECT_EQ(alone.batch_slice(5).count, 5U);
  EXPECT_EQ(all_classes(alone, 7), 7U);
}

TEST(ParallelLayout, BlocksAndSlicesCoverClassesAndBatchesOnce) {
  run_processes(6, [](Communicator& communicator) {
    const ParallelLayout layout(communicator, 3, 10);
    EXPECT_EQ(layout.class_ranks(), 3U);
    EXPECT_EQ(layout.data_ranks(), 2U);
    EXPECT_EQ(all_classes(layout, layout.class_block(10).count), 10U);
    double examples = static_cast<double>(layout.batch_slice(9).count);
    layout.same_block().sum(std::span<double>(&examples, 1));
    EXPECT_EQ(examples, 9.0);
  });
}

}  // namespace
}  // namespace annulus
