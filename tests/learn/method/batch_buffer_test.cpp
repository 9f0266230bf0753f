// Batches gathered from training examples that are here, and from those of other processes.
#include "annulus/learn/method/batch_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/fixtures/random_examples.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

TEST(BatchAt, TheLastBatchIsShortAndThenThereIsNone) {
  const std::vector<std::uint32_t> order{4, 2, 0, 1, 3};
  EXPECT_EQ(batch_at(order, 0, 3).size(), 3U);
  EXPECT_EQ(batch_at(order, 3, 3).size(), 2U);
  EXPECT_EQ(batch_at(order, 3, 3).front(), 1U);
  EXPECT_TRUE(batch_at(order, 5, 3).empty());
}

void expect_batch(const StepBatch<float>& batch, const TrainingExamples<float>& examples,
                  std::span<const std::uint32_t> chosen, std::int32_t first_class) {
  ASSERT_EQ(batch.rows.rows(), chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(batch.rows.row(i), examples.features.row(chosen[i])));
    EXPECT_EQ(batch.labels[i], examples.labels[chosen[i]] - first_class);
    EXPECT_EQ(batch.weights[i], examples.weights[chosen[i]]);
  }
}

TEST(BatchBuffer, GathersASliceOfTheBatch) {
  auto examples = random_examples<float>(3, 3, 4);
  for (std::size_t i = 0; i < 9; ++i) examples.weights.push_back(static_cast<float>(i));
  BatchBuffer<float> buffer(examples, 5, 1);
  const std::vector<std::uint32_t> order{8, 0, 3, 2, 5};
  const StepBatch<float> batch = buffer.gather(order, {1, 3}, 7);
  EXPECT_EQ(batch.step, 7U);
  EXPECT_EQ(batch.offset, 1U);
  EXPECT_EQ(batch.whole_batch(), 5U);
  expect_batch(batch, examples, std::span(order).subspan(1, 3), 1);
}

TEST(BatchBuffer, FetchesTheTrainingExamplesOfOtherProcesses) {
  auto whole = random_examples<float>(3, 3, 4);
  for (std::size_t i = 0; i < 9; ++i) whole.weights.push_back(static_cast<float>(i));
  run_processes(2, [&](Communicator& communicator) {
    TrainingExamples<float> part{{}, whole.labels, 3, whole.noise_scale, whole.weights, Partition(communicator, 9)};
    const Slice own = part.partition.own(9);
    part.features = Matrix<float>(own.count, 4);
    std::copy_n(whole.features.row(own.first).begin(), own.count * 4, part.features.data());
    BatchBuffer<float> buffer(part, 4, 0);
    const std::vector<std::uint32_t> first{8, 0, 4, 5};
    const std::vector<std::uint32_t> second{1, 7};
    expect_batch(buffer.gather(first, {0, 4}, 0), whole, first, 0);
    buffer.expect(second);
    expect_batch(buffer.gather(second, {0, 2}, 1), whole, second, 0);
  });
}

}  // namespace
}  // namespace annulus
