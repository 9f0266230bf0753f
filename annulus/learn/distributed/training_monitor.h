// What happens between the steps of a training or of an accuracy beside computing: progress, stopping, checkpoints.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/progress.h"
#include "annulus/learn/distributed/fit_checkpoint.h"
#include "annulus/learn/distributed/parallel_layout.h"

namespace annulus {

// Processes that share the work make the same calls, and agree on when to stop and when to keep a checkpoint. Alone,
// without progress and with FitCheckpoint::none(), it does nothing.
class TrainingMonitor {
 public:
  // `stage` and `total` are those of the progress.
  TrainingMonitor(const ParallelLayout& layout, FitCheckpoint& checkpoint, ProgressCallback progress, const char* stage,
                  std::size_t total)
      : layout_(layout),
        checkpoint_(checkpoint),
        progress_(std::move(progress)),
        stage_(stage),
        total_(total),
        reported_(now()) {}

  // Where to start: at the beginning, or at the state that was kept, which is filled in. The first process takes over
  // the sums of all.
  TrainingNumbers resume(std::span<const KeptNumbers> state);

  // Before a step. Reports that `done` of the total are done, if `report` says so or if the last report was a while
  // ago, and keeps the state when that is due: `own` are this process's sums. Throws Error{kCancelled} when the caller
  // of any process wants to stop.
  void before_step(std::size_t done, bool report, const TrainingNumbers& own, std::span<const KeptNumbers> state);
  // After the last step: a last report.
  void finish();

  // Sums over all processes.
  TrainingNumbers total(const TrainingNumbers& own) const;

 private:
  // Reports and stops as before_step does. True: a process has to keep its state, and so have all.
  bool agree(std::size_t done, bool report, bool state_is_due);

  const ParallelLayout& layout_;
  FitCheckpoint& checkpoint_;
  ProgressCallback progress_;
  const char* stage_;
  std::size_t total_;
  SteadyTime reported_;
};

}  // namespace annulus
