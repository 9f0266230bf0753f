// The gradient engine that the options of a training ask for.
#pragma once

#include <cstddef>
#include <variant>

#include "annulus/base/random.h"
#include "annulus/learn/method/factored_gradient.h"
#include "annulus/learn/method/gradient.h"
#include "annulus/learn/method/independent_gradient.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// FactoredGradient where training examples share noise, otherwise IndependentGradient. A batch may be empty: a process
// may have none of a short batch.
template <class T>
class GradientEngine {
 public:
  // `use` says which random numbers the noise has; `count_correct`: of every step.
  GradientEngine(const TrainOptions& options, const TrainingExamples<T>& examples, RandomUse use, bool count_correct,
                 const NoiseSource<T>& noise);

  // The mean loss over the batch's virtual examples; `gradient` becomes its gradient.
  StepSums loss_gradient(const HeadView<T>& head, const StepBatch<T>& batch, StepGradient<T>& gradient);
  // The batch's virtual examples that are classified correctly, each counted by the weight of its training example.
  double correct(const HeadView<T>& head, const StepBatch<T>& batch);
  // Virtual examples of a training example.
  std::size_t virtual_count() const;

 private:
  std::variant<IndependentGradient<T>, FactoredGradient<T>> engine_;
};

}  // namespace annulus
