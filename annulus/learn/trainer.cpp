// The training loop: order, gradient, Adam; and accuracies on virtual examples.
#include "annulus/learn/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/learn/batch_buffer.h"
#include "annulus/learn/factored_gradient.h"
#include "annulus/learn/head_updater.h"
#include "annulus/learn/independent_gradient.h"
#include "annulus/learn/training_log.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

constexpr auto kReportInterval = std::chrono::milliseconds(200);  // between calls of progress within an epoch
constexpr double kReferenceBatch = 256.0;                         // learning rates are stated for this batch

void check(const TrainOptions& options) {
  const auto expect = [](bool holds, const char* sentence) {
    if (!holds) throw Error(ErrorKind::kUsage, sentence);
  };
  expect(options.batch > 0, "expected a batch of at least one original, found 0");
  expect(options.virtual_count > 0, "expected at least one virtual example of each original, found 0");
  expect(std::isfinite(options.epsilon) && options.epsilon >= 0.0, "expected a finite radius epsilon of 0 or more");
  expect(std::isfinite(options.learning_rate) && options.learning_rate > 0.0,
         "expected a finite learning rate above 0");
  expect(options.learning.count == 0 || options.share == nullptr,
         "expected all classes to learn where processes share a training");
  expect(options.label_smoothing >= 0.0 && options.label_smoothing < 1.0,
         "expected a label smoothing of at least 0 and below 1");
}

template <class T>
using Engine = std::variant<IndependentGradient<T>, FactoredGradient<T>>;

// Originals of a group that share noise rows. A short training that draws few noise rows ends at a slightly worse head
// than with independent noise (docs/performance.md has the figures): the largest group is taken with which the whole
// training draws enough of them, unless their products would cost more than the rest of a step.
std::size_t chosen_group(const TrainOptions& options, std::size_t rows, std::size_t dimension) {
  constexpr double kEnoughNoiseRows = 12800.0;  // 128 a step in 100 steps
  // What an exponential costs in flops of a product; bench/scaling measures both. A constant rather than a measurement
  // at run time, because the group size changes the result.
  constexpr double kFlopsPerExponential = 32.0;
  const auto batch = static_cast<double>(std::min(options.batch, rows));
  const auto count = static_cast<double>(options.virtual_count);
  const double steps = std::ceil(static_cast<double>(rows) / batch) * static_cast<double>(options.epochs);
  const double groups = std::ceil(kEnoughNoiseRows / (steps * count));
  const double product = 4.0 * static_cast<double>(dimension);
  const double cheapest = count * product / (count * kFlopsPerExponential + product);
  return static_cast<std::size_t>(std::ceil(std::max(batch / groups, std::min(cheapest, batch))));
}

template <class T>
Engine<T> make_engine(const TrainOptions& options, const TrainingRows<T>& rows, RandomUse use,
                      const TrainHooks<T>& hooks) {
  NoiseOptions<T> noise;
  noise.epsilon = static_cast<T>(options.epsilon);
  noise.virtual_count = options.virtual_count;
  noise.scale = rows.noise_scale;
  noise.stream = {options.seed, use, options.run};
  noise.antithetic = options.antithetic;
  noise.label_smoothing = static_cast<T>(options.label_smoothing);
  noise.threads = options.threads;
  noise.numbers = hooks.noise;
  noise.bank = options.bank;
  noise.count_hits = static_cast<bool>(hooks.after_epoch);
  noise.classes = rows.classes;
  if (options.share != nullptr && options.share->class_ranks() > 1) noise.blocks = &options.share->same_slice();
  if (options.sharing == NoiseSharing::kIndependent || options.epsilon == 0.0) return IndependentGradient<T>(noise);
  if (options.sharing == NoiseSharing::kGrouped) {
    noise.group = options.group != 0 ? options.group : chosen_group(options, rows.rows(), rows.dimension());
  }
  return FactoredGradient<T>(noise);
}

// The part of a batch that this process sees: positions of a slice of it.
Slice slice_of_batch(const WorkShare* share, std::size_t originals) {
  return share == nullptr ? Slice{0, originals} : share->batch_slice(originals);
}

// The batch that starts at a place of the order; none at its end.
std::span<const std::uint32_t> batch_at(std::span<const std::uint32_t> order, std::size_t first, std::size_t batch) {
  return order.subspan(first, std::min(batch, order.size() - first));
}

// One training: the head, Adam's memory of it, and how far it is.
template <class T>
class Training {
 public:
  Training(Head<T>& head, const TrainingRows<T>& rows, const TrainOptions& options, const ProgressCallback& progress,
           const TrainHooks<T>& hooks)
      : head_(head),
        rows_(rows),
        options_(options),
        progress_(progress),
        hooks_(hooks),
        block_(class_block(options.share, rows.classes)),
        engine_(make_engine(options, rows, RandomUse::kTrainingNoise, hooks)),
        buffer_(rows, options.batch, block_.first),
        updater_(head),
        gradient_{Matrix<T>(head.classes(), head.dimension()), std::vector<T>(head.bias.size()), options.learning} {
    if (options.share == nullptr || options.share->data_ranks() == 1) return;
    // Enough for several to be on their way at a time, not so small that they cost by their number.
    gradient_.chunk = std::max<std::size_t>(32, std::min(kChunkNumbers / head.dimension(), head.classes() / 4));
    gradient_.ready = [this](std::size_t first, std::size_t count) {
      chunks_.push_back({first, count});
      pending_.push_back(options_.share->same_block().start_sum(
          std::span<T>(gradient_.weights.row(first).data(), count * head_.dimension())));
    };
  }

  TrainReport run() {
    const auto start = now();
    if (!find_finished()) {
      find_state();
      const std::size_t steps = steps_an_epoch(rows_.rows(), options_);
      std::size_t first = result_.steps % steps * options_.batch;  // in the epoch that goes on; others start at 0
      for (std::size_t epoch = result_.steps / steps; epoch < options_.epochs; ++epoch) {
        if (run_epoch(epoch, std::exchange(first, 0))) break;
      }
      between_steps(options_.epochs, true, false);
      if (!std::isfinite(result_.final_loss)) {
        fail(ErrorKind::kInput, "training diverged: the loss became {} at learning rate {}; try a smaller --lr",
             result_.final_loss, options_.learning_rate);
      }
      keep_finished();
    }
    result_.seconds = seconds_since(start);
    return result_;
  }

 private:
  static constexpr std::size_t kChunkNumbers = std::size_t{1} << 20;

  // From position `first` of the epoch on. True: the caller wants no more epochs.
  bool run_epoch(std::size_t epoch, std::size_t first) {
    const double learning_rate = decayed_learning_rate(options_, epoch);
    const RandomStream shuffle{options_.seed, RandomUse::kShuffle, start_stream(options_)};
    if (hooks_.order) {
      order_ = hooks_.order(epoch);
    } else {
      order_.resize(rows_.rows());
      random_permutation(shuffle, static_cast<std::uint32_t>(epoch), order_);
    }
    for (bool begins = true; first < order_.size(); first += options_.batch, begins = false) {
      between_steps(epoch, begins, true);
      const auto order = batch_at(order_, first, options_.batch);
      const StepSums sums = take_step(order, batch_at(order_, first + order.size(), options_.batch), learning_rate);
      epoch_loss_ += sums.loss * static_cast<double>(order.size());
      hits_ += sums.hits;
      if (hooks_.after_step) {
        hooks_.after_step({epoch, result_.steps - 1, learning_rate, sums.loss, gradient_.weights.view(),
                           updater_.offset_gradient(), &head_});
      }
    }
    return end_epoch(epoch, order_.size());
  }

  // Tells how far the training is, hears who wants to stop (an epoch of many classes takes minutes), and keeps the
  // state when that is due. Processes that share the training agree on both.
  void between_steps(std::size_t epoch, bool tell, bool may_keep) {
    std::array<double, 2> wants{};  // to stop, to keep the state
    if (progress_ && (tell || now() - reported_ > kReportInterval)) {
      wants[0] = progress_({"train", epoch, options_.epochs, {}}) ? 0.0 : 1.0;
      reported_ = now();
    }
    if (may_keep && options_.log != nullptr && options_.log->state_is_due()) wants[1] = 1.0;
    if (options_.share != nullptr) options_.share->everyone().sum(wants);
    if (wants[0] > 0.0) throw Error(ErrorKind::kCancelled, kStopped);
    if (wants[1] > 0.0) keep_state();
  }

  StepSums take_step(std::span<const std::uint32_t> order, std::span<const std::uint32_t> next, double learning_rate) {
    const auto batch = buffer_.gather(order, slice_of_batch(options_.share, order.size()), result_.steps);
    buffer_.expect(next);
    StepSums sums;
    if (batch.rows.rows() > 0) {
      sums = std::visit([&](auto& chosen) { return chosen.loss_gradient(updater_.view(), batch, gradient_); }, engine_);
    } else {
      give_no_gradient();
    }
    ++result_.steps;
    if (!gradient_.ready) {
      const Slice all{0, head_.classes()};
      updater_.update(gradient_, options_.learning.count > 0 ? options_.learning : all, learning_rate, result_.steps,
                      options_.threads);
      return sums;
    }
    if (!gradient_.bias.empty()) options_.share->same_block().sum(std::span<T>(gradient_.bias));
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      pending_[i]->wait();
      updater_.update(gradient_, chunks_[i], learning_rate, result_.steps, options_.threads);
    }
    pending_.clear();
    chunks_.clear();
    return sums;
  }

  // Where a batch has fewer originals than there are processes.
  void give_no_gradient() {
    std::fill_n(gradient_.weights.data(), head_.classes() * head_.dimension(), T{0});
    std::fill(gradient_.bias.begin(), gradient_.bias.end(), T{0});
    for (std::size_t first = 0; first < head_.classes(); first += gradient_.chunk) {
      gradient_.ready(first, std::min(gradient_.chunk, head_.classes() - first));
    }
  }

  bool end_epoch(std::size_t epoch, std::size_t originals) {
    std::array<double, 2> sums{epoch_loss_, hits_};
    if (options_.share != nullptr) options_.share->everyone().sum(sums);
    epoch_loss_ = 0.0;
    hits_ = 0.0;
    const std::size_t each = std::visit([](const auto& chosen) { return chosen.virtual_count(); }, engine_);
    result_.final_loss = sums[0] / static_cast<double>(originals);
    accuracy_ = sums[1] / static_cast<double>(originals * each);
    return hooks_.after_epoch && hooks_.after_epoch({epoch, result_.final_loss, accuracy_});
  }

  bool find_finished() {
    if constexpr (std::is_same_v<T, float>) {
      if (options_.log == nullptr) return false;
      const auto found = options_.log->find_training(updater_.kept_head(block_.first, rows_.classes));
      if (!found) return false;
      result_.steps = found->steps;
      result_.final_loss = found->loss;
      if (hooks_.after_epoch) {
        hooks_.after_epoch({(result_.steps - 1) / steps_an_epoch(rows_.rows(), options_), found->loss, found->hits});
      }
      return true;
    }
    return false;
  }

  void keep_finished() {
    if constexpr (std::is_same_v<T, float>) {
      if (options_.log == nullptr) return;
      options_.log->keep_training({result_.steps, result_.final_loss, accuracy_}, options_.continues,
                                  updater_.kept_head(block_.first, rows_.classes));
    }
  }

  void find_state() {
    if constexpr (std::is_same_v<T, float>) {
      if (options_.log == nullptr) return;
      const auto found = options_.log->find_state(updater_.kept_state(block_.first, rows_.classes));
      if (!found) return;
      result_.steps = found->steps;
      if (options_.share != nullptr && options_.share->everyone().rank() != 0) return;
      epoch_loss_ = found->loss;
      hits_ = found->hits;
    }
  }

  void keep_state() {
    if constexpr (std::is_same_v<T, float>) {
      std::array<double, 2> sums{epoch_loss_, hits_};
      if (options_.share != nullptr) options_.share->everyone().sum(sums);
      options_.log->keep_state({result_.steps, sums[0], sums[1]}, updater_.kept_state(block_.first, rows_.classes));
    }
  }

  Head<T>& head_;
  const TrainingRows<T>& rows_;
  const TrainOptions& options_;
  const ProgressCallback& progress_;
  const TrainHooks<T>& hooks_;
  const Slice block_;  // of the classes
  Engine<T> engine_;
  BatchBuffer<T> buffer_;
  HeadUpdater<T> updater_;
  StepGradient<T> gradient_;
  std::vector<Slice> chunks_;  // of the gradient that are being summed up
  std::vector<std::unique_ptr<Team::Pending>> pending_;
  TrainReport result_;
  SteadyTime reported_{};
  double epoch_loss_ = 0.0;  // so far, this process's part
  double hits_ = 0.0;
  std::vector<std::uint32_t> order_;  // of the rows in the epoch
  double accuracy_ = 0.0;             // of the last epoch
};

// How far an accuracy is: batches, and what was right in them, this process's part.
struct Count {
  std::size_t step = 0;
  double hits = 0.0;
};

// Of a pass that was ended; the first process takes all of it over.
Count counted_before(const TrainOptions& options) {
  const auto found = options.log == nullptr ? std::nullopt : options.log->find_state({});
  if (!found) return {};
  const bool first = options.share == nullptr || options.share->everyone().rank() == 0;
  return {found->steps, first ? found->hits : 0.0};
}

void keep_count(const TrainOptions& options, Count count) {
  if (options.share != nullptr) options.share->everyone().sum(std::span<double>(&count.hits, 1));
  options.log->keep_state({count.step, 0.0, count.hits}, {});
}

}  // namespace

std::uint32_t start_stream(const TrainOptions& options) {
  constexpr std::uint32_t kRunsPerTask = 4096;  // far more trainings than a fit has
  return options.task * kRunsPerTask + options.run;
}

double decayed_learning_rate(const TrainOptions& options, std::size_t epoch) {
  const double progress = static_cast<double>(epoch) / static_cast<double>(options.epochs);
  return options.learning_rate * static_cast<double>(options.batch) / kReferenceBatch *
         (1.0 + std::cos(std::numbers::pi * progress)) / 2.0;
}

template <class T>
TrainReport train(Head<T>& head, const TrainingRows<T>& rows, const TrainOptions& options,
                  const ProgressCallback& progress, const TrainHooks<T>& hooks) {
  check(options);
  return Training<T>(head, rows, options, progress, hooks).run();
}

template <class T>
double training_accuracy(const Head<T>& head, const TrainingRows<T>& rows, const TrainOptions& options,
                         const ProgressCallback& progress, const TrainHooks<T>& hooks) {
  check(options);
  if (options.log != nullptr) {
    if (const auto found = options.log->find_accuracy()) return *found;
  }
  Engine<T> engine = make_engine(options, rows, RandomUse::kProbeNoise, hooks);
  Matrix<T> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  const HeadView<T> view{head.kind, std::as_const(weights).view(), head.bias};
  BatchBuffer<T> buffer(rows, options.batch, class_block(options.share, rows.classes).first);
  std::vector<std::uint32_t> order(rows.rows());
  std::iota(order.begin(), order.end(), 0U);
  auto [step, hits] = counted_before(options);
  SteadyTime reported = now();
  for (std::size_t start = step * options.batch; start < rows.rows(); start += options.batch, ++step) {
    std::array<double, 2> wants{};  // to stop, to keep the count
    if (progress && now() - reported > kReportInterval) {
      wants[0] = progress({"count what is right", start, rows.rows(), {}}) ? 0.0 : 1.0;
      reported = now();
    }
    if (options.log != nullptr && options.log->state_is_due()) wants[1] = 1.0;
    if (options.share != nullptr) options.share->everyone().sum(wants);
    if (wants[0] > 0.0) throw Error(ErrorKind::kCancelled, kStopped);
    if (wants[1] > 0.0) keep_count(options, {step, hits});
    const auto whole = batch_at(order, start, options.batch);
    const StepBatch<T> batch = buffer.gather(whole, slice_of_batch(options.share, whole.size()), step);
    buffer.expect(batch_at(order, start + whole.size(), options.batch));
    if (batch.rows.rows() == 0) continue;
    hits += std::visit([&](auto& chosen) { return chosen.hits(view, batch); }, engine);
  }
  if (options.share != nullptr) options.share->everyone().sum(std::span<double>(&hits, 1));
  const std::size_t each = std::visit([](const auto& chosen) { return chosen.virtual_count(); }, engine);
  const double accuracy = hits / static_cast<double>(rows.rows() * each);
  if (options.log != nullptr) options.log->keep_accuracy(accuracy);
  return accuracy;
}

template TrainReport train(Head<float>&, const TrainingRows<float>&, const TrainOptions&, const ProgressCallback&,
                           const TrainHooks<float>&);
template TrainReport train(Head<double>&, const TrainingRows<double>&, const TrainOptions&, const ProgressCallback&,
                           const TrainHooks<double>&);
template double training_accuracy(const Head<float>&, const TrainingRows<float>&, const TrainOptions&,
                                  const ProgressCallback&, const TrainHooks<float>&);
template double training_accuracy(const Head<double>&, const TrainingRows<double>&, const TrainOptions&,
                                  const ProgressCallback&, const TrainHooks<double>&);

}  // namespace annulus
