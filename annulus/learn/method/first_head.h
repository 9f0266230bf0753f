// The head that a training begins with.
#pragma once

#include "annulus/learn/method/head.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// A random head, or the prototypes where options.from_prototypes says so; of a shared training, the block of classes
// that this process holds.
template <class T>
Head<T> first_head(const TrainingExamples<T>& examples, HeadKind kind, const TrainOptions& options);

// The cosine head whose directions are the sums of the (weighted) training examples of each class.
template <class T>
Head<T> prototype_head(const TrainingExamples<T>& examples, const ParallelLayout& layout);

}  // namespace annulus
