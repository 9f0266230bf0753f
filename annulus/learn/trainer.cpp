// The training loop: order, gradient, Adam; and accuracies on virtual examples.
#include "annulus/learn/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/base/parallel.h"
#include "annulus/base/random.h"
#include "annulus/kernels/adam.h"
#include "annulus/learn/factored_gradient.h"
#include "annulus/learn/independent_gradient.h"

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
  if (options.sharing == NoiseSharing::kIndependent || options.epsilon == 0.0) return IndependentGradient<T>(noise);
  if (options.sharing == NoiseSharing::kGrouped) {
    noise.group = options.group != 0 ? options.group : chosen_group(options, rows.rows(), rows.dimension());
  }
  return FactoredGradient<T>(noise);
}

// The rows of a batch, copied together.
template <class T>
class BatchBuffer {
 public:
  BatchBuffer(const TrainingRows<T>& rows, std::size_t batch)
      : rows_(rows),
        features_(std::min(batch, rows.rows()), rows.dimension()),
        labels_(features_.rows()),
        weights_(rows.weights.empty() ? 0 : features_.rows()) {}

  StepBatch<T> gather(std::span<const std::uint32_t> order, std::size_t step) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto from = rows_.features.row(order[i]);
      std::copy(from.begin(), from.end(), features_.row(i).begin());
      labels_[i] = rows_.labels[order[i]];
      if (!weights_.empty()) weights_[i] = rows_.weights[order[i]];
    }
    return {std::as_const(features_).view().rows_at(0, order.size()),
            std::span<const std::int32_t>(labels_).first(order.size()), step,
            std::span<const T>(weights_).first(weights_.empty() ? 0 : order.size())};
  }

 private:
  const TrainingRows<T>& rows_;
  Matrix<T> features_;
  std::vector<std::int32_t> labels_;
  std::vector<T> weights_;
};

// A head in training: its effective weights and Adam's memory of it.
template <class T>
class HeadUpdater {
 public:
  explicit HeadUpdater(Head<T>& head)
      : head_(head),
        first_(head.classes(), head.dimension()),
        second_(head.classes(), head.dimension()),
        first_offset_(head.classes()),
        second_offset_(head.classes()),
        offset_gradient_(head.classes()) {
    if (head.kind == HeadKind::kCosine) {
      weights_ = Matrix<T>(head.classes(), head.dimension());
      effective_weights(head, weights_.view());
    }
  }

  HeadView<T> view() const {
    const bool cosine = head_.kind == HeadKind::kCosine;
    return {head_.kind, cosine ? weights_.view() : std::as_const(head_.direction).view(), head_.bias};
  }

  // Adam's step number `step` (from 1). gradient.weights becomes the gradient of the directions.
  void update(StepGradient<T>& gradient, double learning_rate, std::size_t step, int threads) {
    const auto adam = AdamStep<T>::at(learning_rate, step);
    const std::size_t dimension = head_.dimension();
    constexpr std::size_t kRowsPerTask = 32;
    parallel_for(threads, (head_.classes() + kRowsPerTask - 1) / kRowsPerTask, [&](std::size_t task) {
      const std::size_t end = std::min(head_.classes(), (task + 1) * kRowsPerTask);
      for (std::size_t c = task * kRowsPerTask; c < end; ++c) {
        const AdamMoments<T> moments{first_.row(c).data(), second_.row(c).data(), &first_offset_[c],
                                     &second_offset_[c]};
        T* direction = head_.direction.row(c).data();
        T* row_gradient = gradient.weights.row(c).data();
        if (head_.kind == HeadKind::kCosine) {
          offset_gradient_[c] = adam_weight_norm_row(adam, dimension, direction, &head_.gain[c], row_gradient, moments,
                                                     weights_.row(c).data());
        } else {
          offset_gradient_[c] = gradient.bias[c];
          adam_plain_row(adam, dimension, direction, &head_.bias[c], static_cast<const T*>(row_gradient),
                         gradient.bias[c], moments);
        }
      }
    });
  }

  std::span<const T> offset_gradient() const { return offset_gradient_; }

 private:
  Head<T>& head_;
  Matrix<T> weights_;
  Matrix<T> first_;
  Matrix<T> second_;
  std::vector<T> first_offset_;
  std::vector<T> second_offset_;
  std::vector<T> offset_gradient_;
};

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
  const auto start = now();
  Engine<T> engine = make_engine(options, rows, RandomUse::kTrainingNoise, hooks);
  BatchBuffer<T> buffer(rows, options.batch);
  HeadUpdater<T> updater(head);
  StepGradient<T> gradient{Matrix<T>(head.classes(), head.dimension()), std::vector<T>(head.bias.size())};
  const RandomStream shuffle{options.seed, RandomUse::kShuffle, start_stream(options)};
  TrainReport result;
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    report(progress, {"train", epoch, options.epochs, {}});
    auto reported = now();
    const double learning_rate = decayed_learning_rate(options, epoch);
    const auto order =
        hooks.order ? hooks.order(epoch) : random_permutation(shuffle, static_cast<std::uint32_t>(epoch), rows.rows());
    double epoch_loss = 0.0;
    double hits = 0.0;
    for (std::size_t first = 0; first < order.size(); first += options.batch) {
      // An epoch of many classes takes minutes: whoever wants to stop is heard between steps too.
      if (progress && now() - reported > kReportInterval) {
        report(progress, {"train", epoch, options.epochs, {}});
        reported = now();
      }
      const std::size_t count = std::min(options.batch, order.size() - first);
      const auto batch = buffer.gather(std::span<const std::uint32_t>(order).subspan(first, count), result.steps);
      const StepSums sums =
          std::visit([&](auto& chosen) { return chosen.loss_gradient(updater.view(), batch, gradient); }, engine);
      ++result.steps;
      updater.update(gradient, learning_rate, result.steps, options.threads);
      epoch_loss += sums.loss * static_cast<double>(count);
      hits += sums.hits;
      if (hooks.after_step) {
        hooks.after_step({epoch, result.steps - 1, learning_rate, sums.loss, gradient.weights.view(),
                          updater.offset_gradient(), &head});
      }
    }
    result.final_loss = epoch_loss / static_cast<double>(order.size());
    if (hooks.after_epoch) {
      const std::size_t each = std::visit([](const auto& chosen) { return chosen.virtual_count(); }, engine);
      const double accuracy = hits / static_cast<double>(order.size() * each);
      if (hooks.after_epoch({epoch, result.final_loss, accuracy})) break;
    }
  }
  report(progress, {"train", options.epochs, options.epochs, {}});
  if (!std::isfinite(result.final_loss)) {
    fail(ErrorKind::kInput, "training diverged: the loss became {} at learning rate {}; try a smaller --lr",
         result.final_loss, options.learning_rate);
  }
  result.seconds = seconds_since(start);
  return result;
}

template <class T>
double training_accuracy(const Head<T>& head, const TrainingRows<T>& rows, const TrainOptions& options,
                         const TrainHooks<T>& hooks) {
  check(options);
  Engine<T> engine = make_engine(options, rows, RandomUse::kProbeNoise, hooks);
  Matrix<T> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  const HeadView<T> view{head.kind, std::as_const(weights).view(), head.bias};
  double hits = 0.0;
  std::size_t step = 0;
  for (std::size_t first = 0; first < rows.rows(); first += options.batch, ++step) {
    const std::size_t count = std::min(options.batch, rows.rows() - first);
    const StepBatch<T> batch{
        rows.features.view().rows_at(first, count), std::span<const std::int32_t>(rows.labels).subspan(first, count),
        step,
        std::span<const T>(rows.weights).subspan(rows.weights.empty() ? 0 : first, rows.weights.empty() ? 0 : count)};
    hits += std::visit([&](auto& chosen) { return chosen.hits(view, batch); }, engine);
  }
  const std::size_t each = std::visit([](const auto& chosen) { return chosen.virtual_count(); }, engine);
  return hits / static_cast<double>(rows.rows() * each);
}

template TrainReport train(Head<float>&, const TrainingRows<float>&, const TrainOptions&, const ProgressCallback&,
                           const TrainHooks<float>&);
template TrainReport train(Head<double>&, const TrainingRows<double>&, const TrainOptions&, const ProgressCallback&,
                           const TrainHooks<double>&);
template double training_accuracy(const Head<float>&, const TrainingRows<float>&, const TrainOptions&,
                                  const TrainHooks<float>&);
template double training_accuracy(const Head<double>&, const TrainingRows<double>&, const TrainOptions&,
                                  const TrainHooks<double>&);

}  // namespace annulus
