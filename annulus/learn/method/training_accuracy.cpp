// One pass over the training examples that counts correct virtual examples.
#include "annulus/learn/method/training_accuracy.h"

#include <numeric>
#include <utility>
#include <vector>

#include "annulus/learn/distributed/training_monitor.h"
#include "annulus/learn/method/batch_buffer.h"
#include "annulus/learn/method/gradient_engine.h"

namespace annulus {

template <class T>
double training_accuracy(const Head<T>& head, const TrainingExamples<T>& examples, const TrainOptions& options,
                         const ProgressCallback& progress, const TrainHooks<T>& hooks) {
  check_options(options);
  if (const auto found = options.checkpoint->find_accuracy()) return *found;
  GradientEngine<T> engine(options, examples, RandomUse::kProbeNoise, true, hooks.noise);
  Matrix<T> weights(head.classes(), head.dimension());
  effective_weights(head, weights.view());
  const HeadView<T> view{head.kind, std::as_const(weights).view(), head.bias};
  BatchBuffer<T> buffer(examples, options.batch, options.layout->class_block(examples.classes).first);
  std::vector<std::uint32_t> order(examples.rows());
  std::iota(order.begin(), order.end(), 0U);
  TrainingMonitor monitor(*options.layout, *options.checkpoint, progress, "count what is right", order.size());
  TrainingNumbers so_far = monitor.resume({});
  for (std::size_t first = so_far.steps * options.batch; first < order.size(); first += options.batch) {
    monitor.before_step(first, false, so_far, {});
    const auto positions = batch_at(order, first, options.batch);
    const auto batch = buffer.gather(positions, options.layout->batch_slice(positions.size()), so_far.steps);
    buffer.expect(batch_at(order, first + positions.size(), options.batch));
    so_far.correct += engine.correct(view, batch);
    ++so_far.steps;
  }
  const double correct = monitor.total(so_far).correct;
  const double accuracy = correct / static_cast<double>(examples.rows() * engine.virtual_count());
  options.checkpoint->keep_accuracy(accuracy);
  return accuracy;
}

template double training_accuracy(const Head<float>&, const TrainingExamples<float>&, const TrainOptions&,
                                  const ProgressCallback&, const TrainHooks<float>&);
template double training_accuracy(const Head<double>&, const TrainingExamples<double>&, const TrainOptions&,
                                  const ProgressCallback&, const TrainHooks<double>&);

}  // namespace annulus
