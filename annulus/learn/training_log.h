// What a fit has computed so far, kept so that one that was ended can go on: trainings and accuracies in the order in
// which a fit asks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace annulus {

// Of a training that is under way: sums within the epoch. Of an accuracy: sums so far. Of a finished one: means of its
// last epoch.
struct TrainingNumbers {
  std::uint64_t steps = 0;
  double loss = 0.0;
  double hits = 0.0;
};

// Numbers [first, first + numbers.size()) of `total`; where several processes share a fit, each has its own of them.
struct KeptNumbers {
  std::span<float> numbers;
  std::size_t first = 0;
  std::size_t total = 0;
};

// A fit is a pure function of its input, so that one that starts again asks for the same things in the same order: what
// was finished is found, not computed. Processes that share a fit make the same calls at the same time.
class TrainingLog {
 public:
  TrainingLog() = default;
  virtual ~TrainingLog() = default;
  TrainingLog(const TrainingLog&) = delete;
  TrainingLog& operator=(const TrainingLog&) = delete;

  // The accuracy that is asked for next, if it is known; if not, it is to be kept.
  virtual std::optional<double> find_accuracy() = 0;
  virtual void keep_accuracy(double accuracy) = 0;

  // The training that comes next, if it is finished: the head is filled in, unless a later training went on from it. If
  // it is not, it is to be kept.
  virtual std::optional<TrainingNumbers> find_training(std::span<const KeptNumbers> head) = 0;
  // `continues`: it went on from the head that the training before it left, which is then needed no more.
  virtual void keep_training(const TrainingNumbers& numbers, bool continues, std::span<const KeptNumbers> head) = 0;

  // The state of the training or accuracy that comes next, if it was under way: the numbers are filled in. That of an
  // accuracy has none: its steps and hits are all.
  virtual std::optional<TrainingNumbers> find_state(std::span<const KeptNumbers> state) = 0;
  virtual bool state_is_due() const = 0;
  virtual void keep_state(const TrainingNumbers& numbers, std::span<const KeptNumbers> state) = 0;
};

}  // namespace annulus
