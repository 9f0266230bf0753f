// The one training loop: Adam on a head, over originals or over virtual examples around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/head.h"
#include "annulus/learn/virtual_examples.h"

namespace annulus {

class NoiseBank;
class TrainingLog;
class WorkShare;

struct TrainOptions {
  std::size_t epochs = 100;    // passes over the originals
  std::size_t batch = 256;     // originals a step; the last batch of an epoch may be short
  double learning_rate = 1.0;  // for a batch of 256: a step uses learning_rate * batch / 256, cosine-decayed an epoch
  double epsilon = 0.0;        // radius of the virtual examples; 0 trains on the originals themselves
  std::size_t virtual_count = 200;  // R: virtual examples of an original in each step (ignored at epsilon 0)
  NoiseSharing sharing = NoiseSharing::kIndependent;
  std::size_t group = 0;         // originals in a group when sharing is kGrouped; 0: chosen by cost
  bool antithetic = false;       // noise rows come in pairs (delta, -delta)
  double label_smoothing = 0.1;  // share of the target spread evenly over all classes
  std::uint64_t seed = 0;
  std::uint32_t run = 0;   // number of this training within a fit: gives it random numbers of its own
  std::uint32_t task = 0;  // number of the task (episode) it belongs to: gives it a first head and an order of its own
  int threads = 0;         // 0: all processors; the result does not depend on it
  NoiseBank* bank = nullptr;         // keeps factored noise for other trainings of the same seed and run; may be null
  const WorkShare* share = nullptr;  // this process's part where several train one head, of which it holds a block of
                                     // classes; the result is that of one process but for rounding
  TrainingLog* log = nullptr;        // what was finished is found there, and what is finished is kept; float alone
  Slice learning{};                  // classes that learn while the others stay as they are; none: all. Without `share`
  bool continues = false;            // for the log: the head is what the last training left
};

// The random stream of first heads and of orders.
std::uint32_t start_stream(const TrainOptions& options);

// Steps of one pass over `rows` originals.
inline std::size_t steps_an_epoch(std::size_t rows, const TrainOptions& options) {
  return (rows + options.batch - 1) / options.batch;
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
  double accuracy = 0.0;  // share of them that the head got right before it was updated on them
};

// Ways into the loop: fixed noise, fixed orders, and a look at every step or epoch. All may be empty.
template <class T>
struct TrainHooks {
  // Fills noise rows [first, first + out.rows()) of a step with standard normal numbers. Independent noise has a row
  // for each virtual example, counted original by original, R of each; shared noise has R rows a group.
  std::function<void(std::size_t step, std::size_t first, MatrixView<T> out)> noise;
  std::function<std::vector<std::uint32_t>(std::size_t epoch)> order;
  std::function<void(const StepRecord<T>&)> after_step;
  std::function<bool(const EpochRecord&)> after_epoch;  // true ends the training; hits are counted for it alone
};

struct TrainReport {
  double final_loss = 0.0;  // mean over the last epoch
  std::size_t steps = 0;
  double seconds = 0.0;
};

// Trains `head` in place. Throws Error{kUsage} on options out of range and Error{kCancelled} when progress says stop.
template <class T>
TrainReport train(Head<T>& head, const TrainingRows<T>& rows, const TrainOptions& options,
                  const ProgressCallback& progress = {}, const TrainHooks<T>& hooks = {});

// Share of virtual examples at options.epsilon (of originals at 0) that the head gets right, on fresh noise. Throws as
// train does.
template <class T>
double training_accuracy(const Head<T>& head, const TrainingRows<T>& rows, const TrainOptions& options,
                         const ProgressCallback& progress = {}, const TrainHooks<T>& hooks = {});

}  // namespace annulus
