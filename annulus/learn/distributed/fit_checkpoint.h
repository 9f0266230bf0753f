// What a fit has computed so far, kept so that one that was ended can go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace annulus {

// How far a training or an accuracy is. While it is under way: sums of loss and correct within the epoch, or of the
// accuracy so far. Once it is finished: means of its last epoch.
struct TrainingNumbers {
  std::uint64_t steps = 0;
  double loss = 0.0;
  double correct = 0.0;
};

// Numbers [first, first + numbers.size()) of `total`; where several processes share a fit, each has its own of them.
struct KeptNumbers {
  std::span<float> numbers;
  std::size_t first = 0;
  std::size_t total = 0;
};

// A fit is a pure function of its input: one that starts again makes the same trainings and accuracies in the same
// order, and those that were finished are found instead of computed. Processes that share a fit make the same calls at
// the same time. This class keeps nothing and finds nothing; FitCheckpointFile keeps files.
class FitCheckpoint {
 public:
  FitCheckpoint() = default;
  virtual ~FitCheckpoint() = default;
  FitCheckpoint(const FitCheckpoint&) = delete;
  FitCheckpoint& operator=(const FitCheckpoint&) = delete;

  // The one that keeps nothing.
  static FitCheckpoint& none() {
    static FitCheckpoint nothing;
    return nothing;
  }

  // The accuracy that is computed next, if it is known; if not, it is to be kept.
  virtual std::optional<double> find_accuracy() { return std::nullopt; }
  virtual void keep_accuracy(double /*accuracy*/) {}

  // The training that comes next, if it is finished: the head is filled in, unless a later training continued it. If it
  // is not finished, it is to be kept.
  virtual std::optional<TrainingNumbers> find_training(std::span<const KeptNumbers> /*head*/) { return std::nullopt; }
  // `continues`: it continued the head that the training before it left, which is then needed no more.
  virtual void keep_training(const TrainingNumbers& /*numbers*/, bool /*continues*/,
                             std::span<const KeptNumbers> /*head*/) {}

  // The state of the training or accuracy that comes next, if it was under way: the numbers are filled in. An accuracy
  // has no numbers but its steps and correct.
  virtual std::optional<TrainingNumbers> find_state(std::span<const KeptNumbers> /*state*/) { return std::nullopt; }
  virtual bool state_is_due() const { return false; }
  virtual void keep_state(const TrainingNumbers& /*numbers*/, std::span<const KeptNumbers> /*state*/) {}
};

}  // namespace annulus
