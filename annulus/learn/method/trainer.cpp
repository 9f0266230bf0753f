// The training loop: for every epoch, for every batch, the gradient of the loss and Adam's update.
#include "annulus/learn/method/trainer.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <type_traits>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/learn/distributed/overlapped_reducer.h"
#include "annulus/learn/distributed/training_monitor.h"
#include "annulus/learn/method/batch_buffer.h"
#include "annulus/learn/method/gradient_engine.h"
#include "annulus/learn/method/head_updater.h"

namespace annulus {
namespace {

// Checkpoints hold single precision.
template <class T>
FitCheckpoint& checkpoint_of(const TrainOptions& options) {
  return std::is_same_v<T, float> ? *options.checkpoint : FitCheckpoint::none();
}

// One training: the head, Adam's moments, and how far it is.
template <class T>
class Training {
 public:
  Training(Head<T>& head, const TrainingExamples<T>& examples, const TrainOptions& options,
           const ProgressCallback& progress, const TrainHooks<T>& hooks)
      : head_(head),
        examples_(examples),
        options_(options),
        hooks_(hooks),
        first_class_(options.layout->class_block(examples.classes).first),
        engine_(options, examples, RandomUse::kTrainingNoise, static_cast<bool>(hooks.after_epoch), hooks.noise),
        buffer_(examples, options.batch, first_class_),
        updater_(head),
        gradient_{Matrix<T>(head.classes(), head.dimension()), std::vector<T>(head.bias.size()), options.learning},
        reducer_(make_gradient_reducer<T>(*options.layout)),
        checkpoint_(checkpoint_of<T>(options)),
        monitor_(*options.layout, checkpoint_, progress, "train", options.epochs),
        kept_head_(updater_.kept_head(first_class_, examples.classes)),
        kept_state_(updater_.kept_state(first_class_, examples.classes)) {
    reducer_->prepare(gradient_);
  }

  TrainReport run() {
    const auto start = now();
    if (const auto finished = checkpoint_.find_training(kept_head_)) {
      take_over(*finished);
    } else {
      run_epochs();
      checkpoint_.keep_training(last_epoch_, options_.continues, kept_head_);
    }
    return {last_epoch_.loss, last_epoch_.steps, seconds_since(start)};
  }

 private:
  void run_epochs() {
    so_far_ = monitor_.resume(kept_state_);
    const std::size_t steps = steps_an_epoch(examples_.rows(), options_);
    std::size_t first = so_far_.steps % steps * options_.batch;  // not 0 in an epoch that goes on
    for (std::size_t epoch = so_far_.steps / steps; epoch < options_.epochs; ++epoch, first = 0) {
      const double learning_rate = decayed_learning_rate(options_, epoch);
      order_epoch(epoch);
      for (bool begins = true; first < order_.size(); first += options_.batch, begins = false) {
        monitor_.before_step(epoch, begins, so_far_, kept_state_);
        step(first, epoch, learning_rate);
      }
      if (end_epoch(epoch)) break;
    }
    monitor_.finish();
    if (!std::isfinite(last_epoch_.loss)) {
      fail_field(ErrorKind::kInput, "learning_rate",
                 "training diverged: expected {} to be small enough for a finite loss, found {} and a loss of {}",
                 options_.learning_rate, last_epoch_.loss);
    }
  }

  // The gradient of the batch at `first` and Adam's update.
  void step(std::size_t first, std::size_t epoch, double learning_rate) {
    const auto positions = batch_at(order_, first, options_.batch);
    const auto batch = buffer_.gather(positions, options_.layout->batch_slice(positions.size()), so_far_.steps);
    buffer_.expect(batch_at(order_, first + positions.size(), options_.batch));
    const StepSums sums = engine_.loss_gradient(updater_.view(), batch, gradient_);
    ++so_far_.steps;
    reducer_->reduce(gradient_, [&](Slice classes) {
      updater_.update(gradient_, classes, learning_rate, so_far_.steps, options_.threads);
    });
    so_far_.loss += sums.loss * static_cast<double>(positions.size());
    so_far_.correct += sums.correct;
    hooks_.after_step({epoch, so_far_.steps - 1, learning_rate, sums.loss, gradient_.weights.view(),
                       updater_.offset_gradient(), &head_});
  }

  void order_epoch(std::size_t epoch) {
    if (hooks_.order) {
      order_ = hooks_.order(epoch);
      return;
    }
    order_.resize(examples_.rows());
    const RandomStream shuffle{options_.seed, RandomUse::kShuffle, start_stream(options_)};
    random_permutation(shuffle, static_cast<std::uint32_t>(epoch), order_);
  }

  // True: the caller wants no more epochs.
  bool end_epoch(std::size_t epoch) {
    const TrainingNumbers sums = monitor_.total(so_far_);
    const auto examples = static_cast<double>(order_.size());
    const auto virtual_examples = static_cast<double>(order_.size() * engine_.virtual_count());
    last_epoch_ = {sums.steps, sums.loss / examples, sums.correct / virtual_examples};
    so_far_ = {sums.steps, 0.0, 0.0};
    return hooks_.after_epoch && hooks_.after_epoch({epoch, last_epoch_.loss, last_epoch_.correct});
  }

  // A training that an earlier process finished.
  void take_over(const TrainingNumbers& finished) {
    last_epoch_ = finished;
    if (!hooks_.after_epoch) return;
    const std::size_t epoch = (finished.steps - 1) / steps_an_epoch(examples_.rows(), options_);
    hooks_.after_epoch({epoch, finished.loss, finished.correct});
  }

  Head<T>& head_;
  const TrainingExamples<T>& examples_;
  const TrainOptions& options_;
  const TrainHooks<T>& hooks_;
  const std::size_t first_class_;  // of those that this process holds
  GradientEngine<T> engine_;
  BatchBuffer<T> buffer_;
  HeadUpdater<T> updater_;
  StepGradient<T> gradient_;
  std::unique_ptr<GradientReducer<T>> reducer_;  // after gradient_, so that it is destroyed first
  FitCheckpoint& checkpoint_;
  TrainingMonitor monitor_;
  const std::vector<KeptNumbers> kept_head_;
  const std::vector<KeptNumbers> kept_state_;
  std::vector<std::uint32_t> order_;  // of the training examples in the epoch
  TrainingNumbers so_far_;            // sums within the epoch, this process's part
  TrainingNumbers last_epoch_;        // means of the last epoch, of all processes
};

}  // namespace

void check_options(const TrainOptions& options) {
  const auto expect = [](bool holds, const char* sentence) {
    if (!holds) throw Error(ErrorKind::kUsage, sentence);
  };
  expect(options.batch > 0, "expected a batch of at least one training example, found 0");
  expect(options.virtual_count > 0, "expected at least one virtual example of each training example, found 0");
  expect(std::isfinite(options.epsilon) && options.epsilon >= 0.0, "expected a finite radius epsilon of 0 or more");
  expect(std::isfinite(options.learning_rate) && options.learning_rate > 0.0,
         "expected a finite learning rate above 0");
  expect(options.learning.count == 0 || options.layout->everyone().size() == 1,
         "expected all classes to learn where processes share a training");
  expect(options.label_smoothing >= 0.0 && options.label_smoothing < 1.0,
         "expected a label smoothing of at least 0 and below 1");
}

std::uint32_t start_stream(const TrainOptions& options) {
  constexpr std::uint32_t kRunsPerTask = 4096;  // far more trainings than a fit has
  return options.task * kRunsPerTask + options.run;
}

double decayed_learning_rate(const TrainOptions& options, std::size_t epoch) {
  constexpr double kReferenceBatch = 256.0;  // learning rates are stated for this batch
  const double progress = static_cast<double>(epoch) / static_cast<double>(options.epochs);
  return options.learning_rate * static_cast<double>(options.batch) / kReferenceBatch *
         (1.0 + std::cos(std::numbers::pi * progress)) / 2.0;
}

template <class T>
TrainReport train(Head<T>& head, const TrainingExamples<T>& examples, const TrainOptions& options,
                  const ProgressCallback& progress, const TrainHooks<T>& hooks) {
  check_options(options);
  return Training<T>(head, examples, options, progress, hooks).run();
}

template TrainReport train(Head<float>&, const TrainingExamples<float>&, const TrainOptions&, const ProgressCallback&,
                           const TrainHooks<float>&);
template TrainReport train(Head<double>&, const TrainingExamples<double>&, const TrainOptions&, const ProgressCallback&,
                           const TrainHooks<double>&);

}  // namespace annulus
