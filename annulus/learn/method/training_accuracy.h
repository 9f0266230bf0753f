// The accuracy of a head on virtual examples around its training examples, or on these themselves.
#pragma once

#include "annulus/base/progress.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// Fraction of the virtual examples at options.epsilon (of the training examples at 0) that the head classifies
// correctly, on fresh noise or on hooks.noise. Throws as train does.
template <class T>
double training_accuracy(const Head<T>& head, const TrainingExamples<T>& examples, const TrainOptions& options,
                         const ProgressCallback& progress = {}, const TrainHooks<T>& hooks = {});

}  // namespace annulus
