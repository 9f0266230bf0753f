// Between steps: reports, stops and checkpoints, alone and agreed on by several processes.
#include "annulus/learn/distributed/training_monitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <vector>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

// Keeps the last state in memory.
class MemoryCheckpoint : public FitCheckpoint {
 public:
  explicit MemoryCheckpoint(bool due) : due_(due) {}
  std::optional<TrainingNumbers> find_state(std::span<const KeptNumbers>) override { return kept; }
  bool state_is_due() const override { return due_; }
  void keep_state(const TrainingNumbers& numbers, std::span<const KeptNumbers>) override { kept = numbers; }

  std::optional<TrainingNumbers> kept;

 private:
  bool due_;
};

TEST(TrainingMonitor, ReportsWhereToldAndAtTheEnd) {
  std::vector<std::size_t> done;
  const ProgressCallback progress = [&](const Progress& at) {
    EXPECT_EQ(at.stage, "train");
    EXPECT_EQ(at.total, 7U);
    done.push_back(at.done);
    return true;
  };
  TrainingMonitor monitor(ParallelLayout::one_process(), FitCheckpoint::none(), progress, "train", 7);
  EXPECT_EQ(monitor.resume({}).steps, 0U);
  monitor.before_step(0, true, {}, {});
  monitor.before_step(0, false, {}, {});  // right after a report
  monitor.before_step(1, true, {}, {});
  monitor.finish();
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 7}));
}

TEST(TrainingMonitor, AloneWithoutProgressDoesNothing) {
  TrainingMonitor monitor(ParallelLayout::one_process(), FitCheckpoint::none(), {}, "train", 7);
  EXPECT_NO_THROW(monitor.before_step(0, true, {}, {}));
  EXPECT_NO_THROW(monitor.finish());
  const TrainingNumbers same = monitor.total({3, 1.5, 2.0});
  EXPECT_EQ(same.steps, 3U);
  EXPECT_EQ(same.loss, 1.5);
  EXPECT_EQ(same.correct, 2.0);
}

TEST(TrainingMonitor, OneCallerWhoStopsStopsAllProcesses) {
  std::atomic<int> stopped = 0;
  run_processes(3, [&](Communicator& communicator) {
    const ParallelLayout layout(communicator, 1, 8);
    const ProgressCallback progress = [&](const Progress&) { return communicator.rank() != 1; };
    TrainingMonitor monitor(layout, FitCheckpoint::none(), progress, "train", 7);
    expect_error(ErrorKind::kCancelled, kStopped, [&] { monitor.before_step(0, true, {}, {}); });
    ++stopped;
  });
  EXPECT_EQ(stopped.load(), 3);
}

TEST(TrainingMonitor, AStateThatIsDueInOneProcessIsKeptByAllWithTheSumsOfAll) {
  run_processes(2, [](Communicator& communicator) {
    const ParallelLayout layout(communicator, 1, 8);
    MemoryCheckpoint checkpoint(communicator.rank() == 0);
    TrainingMonitor monitor(layout, checkpoint, {}, "train", 7);
    const double own = static_cast<double>(communicator.rank()) + 1.0;
    monitor.before_step(0, false, {5, own, 10.0 * own}, {});
    ASSERT_TRUE(checkpoint.kept.has_value());
    EXPECT_EQ(checkpoint.kept->steps, 5U);
    EXPECT_EQ(checkpoint.kept->loss, 3.0);
    EXPECT_EQ(checkpoint.kept->correct, 30.0);
    const TrainingNumbers resumed = monitor.resume({});
    EXPECT_EQ(resumed.steps, 5U);
    EXPECT_EQ(resumed.loss, communicator.rank() == 0 ? 3.0 : 0.0) << "the first process takes over the sums of all";
  });
}

TEST(TrainingMonitor, NoStateIsKeptAfterTheLastStep) {
  MemoryCheckpoint checkpoint(true);
  TrainingMonitor monitor(ParallelLayout::one_process(), checkpoint, {}, "train", 7);
  monitor.finish();
  EXPECT_FALSE(checkpoint.kept.has_value());
}

}  // namespace
}  // namespace annulus
