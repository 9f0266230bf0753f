// Options of a training as options of a gradient engine, and how many training examples share noise rows.
#include "annulus/learn/method/gradient_engine.h"

#include <algorithm>
#include <cmath>

#include "annulus/learn/distributed/parallel_layout.h"

namespace annulus {
namespace {

// Training examples of a group that share noise rows. A short training that draws few noise rows ends at a slightly
// worse head than with independent noise (docs/results/performance.md has the figures): the largest group is taken with
// which the whole training draws enough of them, unless their products would cost more than the rest of a step.
std::size_t chosen_group(const TrainOptions& options, std::size_t examples, std::size_t dimension) {
  constexpr double kEnoughNoiseRows = 12800.0;  // 128 a step in 100 steps
  // What an exponential costs in flops of a product; bench/scaling measures both. A constant rather than a measurement
  // at run time, because the group size changes the result.
  constexpr double kFlopsPerExponential = 32.0;
  const auto batch = static_cast<double>(std::min(options.batch, examples));
  const auto count = static_cast<double>(options.virtual_count);
  const double steps = std::ceil(static_cast<double>(examples) / batch) * static_cast<double>(options.epochs);
  const double groups = std::ceil(kEnoughNoiseRows / (steps * count));
  const double product = 4.0 * static_cast<double>(dimension);
  const double cheapest = count * product / (count * kFlopsPerExponential + product);
  return static_cast<std::size_t>(std::ceil(std::max(batch / groups, std::min(cheapest, batch))));
}

template <class T>
NoiseOptions<T> noise_options(const TrainOptions& options, const TrainingExamples<T>& examples, RandomUse use,
                              bool count_correct, const NoiseSource<T>& source) {
  NoiseOptions<T> noise;
  noise.epsilon = static_cast<T>(options.epsilon);
  noise.virtual_count = options.virtual_count;
  noise.scale = examples.noise_scale;
  noise.stream = {options.seed, use, options.run};
  noise.antithetic = options.antithetic;
  noise.label_smoothing = static_cast<T>(options.label_smoothing);
  noise.threads = options.threads;
  noise.numbers = source;
  noise.bank = options.bank;
  noise.count_correct = count_correct;
  noise.classes = examples.classes;
  if (options.layout->class_ranks() > 1) noise.blocks = &options.layout->same_slice();
  if (options.sharing == NoiseSharing::kGrouped) {
    noise.group = options.group != 0 ? options.group : chosen_group(options, examples.rows(), examples.dimension());
  }
  return noise;
}

template <class T>
std::variant<IndependentGradient<T>, FactoredGradient<T>> make_engine(const TrainOptions& options,
                                                                      NoiseOptions<T> noise) {
  if (options.sharing == NoiseSharing::kIndependent || options.epsilon == 0.0) {
    return IndependentGradient<T>(std::move(noise));
  }
  return FactoredGradient<T>(std::move(noise));
}

}  // namespace

template <class T>
GradientEngine<T>::GradientEngine(const TrainOptions& options, const TrainingExamples<T>& examples, RandomUse use,
                                  bool count_correct, const NoiseSource<T>& noise)
    : engine_(make_engine(options, noise_options(options, examples, use, count_correct, noise))) {}

template <class T>
StepSums GradientEngine<T>::loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch,
                                          StepGradient<T>& gradient) {
  if (batch.rows.rows() == 0) {
    clear_gradient(gradient);
    return {};
  }
  return std::visit([&](auto& chosen) { return chosen.loss_gradient(head, batch, gradient); }, engine_);
}

template <class T>
double GradientEngine<T>::correct(const HeadView<T>& head, const StepBatch<T>& batch) {
  if (batch.rows.rows() == 0) return 0.0;
  return std::visit([&](auto& chosen) { return chosen.correct(head, batch); }, engine_);
}

template <class T>
std::size_t GradientEngine<T>::virtual_count() const {
  return std::visit([](const auto& chosen) { return chosen.virtual_count(); }, engine_);
}

template class GradientEngine<float>;
template class GradientEngine<double>;

}  // namespace annulus
