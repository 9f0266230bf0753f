// Progress, stopping and checkpoints, agreed on by all processes in one exchange a step.
#include "annulus/learn/distributed/training_monitor.h"

#include <array>
#include <chrono>

#include "annulus/base/error.h"

namespace annulus {

TrainingNumbers TrainingMonitor::resume(std::span<const KeptNumbers> state) {
  TrainingNumbers found = checkpoint_.find_state(state).value_or(TrainingNumbers{});
  if (layout_.everyone().rank() != 0) found = {found.steps, 0.0, 0.0};
  return found;
}

void TrainingMonitor::before_step(std::size_t done, bool report, const TrainingNumbers& own,
                                  std::span<const KeptNumbers> state) {
  if (agree(done, report, checkpoint_.state_is_due())) checkpoint_.keep_state(total(own), state);
}

void TrainingMonitor::finish() { agree(total_, true, false); }

TrainingNumbers TrainingMonitor::total(const TrainingNumbers& own) const {
  std::array<double, 2> sums{own.loss, own.correct};
  layout_.everyone().sum(sums);
  return {own.steps, sums[0], sums[1]};
}

bool TrainingMonitor::agree(std::size_t done, bool report, bool state_is_due) {
  constexpr auto kReportInterval = std::chrono::milliseconds(200);
  std::array<double, 2> wants{0.0, state_is_due ? 1.0 : 0.0};  // to stop, to keep the state
  if (progress_ && (report || now() - reported_ > kReportInterval)) {
    wants[0] = progress_({stage_, done, total_, {}}) ? 0.0 : 1.0;
    reported_ = now();
  }
  layout_.everyone().sum(wants);
  if (wants[0] > 0.0) throw Error(ErrorKind::kCancelled, kStopped);
  return wants[1] > 0.0;
}

}  // namespace annulus
