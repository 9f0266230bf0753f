// The one training loop: Adam on the loss of a head, over training examples or over virtual examples around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/distributed/fit_checkpoint.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

class NoiseBank;

struct TrainOptions {
  std::size_t epochs = 100;    // passes over the training examples
  std::size_t batch = 256;     // training examples a step; the last batch of an epoch may be short
  double learning_rate = 1.0;  // for a batch of 256: a step uses learning_rate * batch / 256, cosine-decayed an epoch
  double epsilon = 0.0;        // radius of the virtual examples; 0 trains on the training examples themselves
  std::size_t virtual_count = 200;  // R: virtual examples of a training example in each step (ignored at epsilon 0)
  NoiseSharing sharing = NoiseSharing::kIndependent;
  std::size_t group = 0;         // training examples in a group when sharing is kGrouped; 0: chosen by cost
  bool antithetic = false;       // noise rows come in pairs (delta, -delta)
  double label_smoothing = 0.1;  // fraction of the target spread evenly over all classes
  bool from_prototypes = false;  // the first head is made of the prototypes instead of random numbers
  std::uint64_t seed = 0;
  std::uint32_t run = 0;   // number of this training within a fit: gives it random numbers of its own
  std::uint32_t task = 0;  // number of the task (episode) it belongs to: gives it a first head and an order of its own
  int threads = 0;         // 0: all processors; the result does not depend on it
  NoiseBank* bank = nullptr;  // keeps factored noise for other trainings of the same seed and run; may be null
  // This process's part where several train one head: the block of classes that it holds, the slice of every batch that
  // it sees. The result is that of one process but for rounding. Never null.
  const ParallelLayout* layout = &ParallelLayout::one_process();
  // Trainings and accuracies that were finished are found there, and what is finished is kept; float alone. Never null.
  FitCheckpoint* checkpoint = &FitCheckpoint::none();
  bool continues = false;  // for the checkpoint: the head is the one that the last training left
  Slice learning{};        // classes that learn while the others stay as they are; none: all. One process alone
};

// Throws Error{kUsage} for options out of range.
void check_options(const TrainOptions& options);

// The random stream of first heads and of orders.
std::uint32_t start_stream(const TrainOptions& options);

// Steps of one pass over `examples` training examples.
inline std::size_t steps_an_epoch(std::size_t examples, const TrainOptions& options) {
  return (examples + options.batch - 1) / options.batch;
}

// The learning rate of an epoch: scaled by the batch and cosine-decayed from its full size towards 0.
double decayed_learning_rate(const TrainOptions& options, std::size_t epoch);

// What a step saw and did; valid during the call only.
template <class T>
struct StepRecord {
  std::size_t epoch = 0;
  std::size_t step = 0;                   // counted over the whole training
  double learning_rate = 0.0;             // after scaling and decay
  double loss = 0.0;                      // mean over the step's virtual examples
  ConstMatrixView<T> direction_gradient;  // classes x dimension
  std::span<const T> offset_gradient;     // of the gains (cosine) or biases (linear)
  const Head<T>* head = nullptr;          // after the update
};

// What an epoch saw.
struct EpochRecord {
  std::size_t epoch = 0;
  double loss = 0.0;      // mean over the epoch's virtual examples
  double accuracy = 0.0;  // fraction of them that the head got right before it was updated on them
};

// Ways into the loop: fixed noise, fixed orders, and a look at every step or epoch. By default they do nothing.
template <class T>
struct TrainHooks {
  // Instead of random numbers. Independent noise has a row for each virtual example, R of the first training example
  // of the batch, then R of the next; shared noise has R rows a group.
  NoiseSource<T> noise;
  std::function<std::vector<std::uint32_t>(std::size_t epoch)> order;  // instead of a random permutation
  std::function<void(const StepRecord<T>&)> after_step = [](const StepRecord<T>&) {};
  std::function<bool(const EpochRecord&)> after_epoch;  // true ends the training; accuracies are counted for it alone
};

struct TrainReport {
  double final_loss = 0.0;  // mean over the last epoch
  std::size_t steps = 0;
  double seconds = 0.0;
};

// Trains `head` in place. Throws Error{kUsage} on options out of range and Error{kCancelled} when progress says stop.
template <class T>
TrainReport train(Head<T>& head, const TrainingExamples<T>& examples, const TrainOptions& options,
                  const ProgressCallback& progress = {}, const TrainHooks<T>& hooks = {});

}  // namespace annulus
