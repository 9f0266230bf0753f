// The space of a metric: a head is trained on rows that were mapped into it, and is mapped back to one that takes
// features as they are, so that predictions cost nothing more.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "annulus/learn/method/head.h"
#include "annulus/learn/transform/feature_transform.h"
#include "annulus/learn/transform/metric_prior.h"
#include "annulus/learn/transform/within_class_metric.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

struct MetricOptions {
  bool within_classes = false;     // learn the metric of the covariance within classes from the training examples
  std::optional<double> strength;  // of its shrinkage (within_class_metric.h); absent: chosen
  // Of the backbone, applied before where that makes examples of held-out classes likelier; null: none.
  std::shared_ptr<const MetricPrior> prior;

  bool any() const { return within_classes || prior != nullptr; }
};

struct MetricSpace {
  FeatureTransform transform;        // from raw features to the rows of the space, before they are scaled to length 1
  WithinClassMetric within_classes;  // what was learnt; its metric is in the transform
  bool prior = false;                // the prior is in the transform, first of its metrics
  double mean_inverse_length = 1.0;  // over the training examples, of these rows

  bool any() const { return !transform.metrics.empty(); }
};

// Maps rows into a space: rows that `input` has transformed are scaled to length 1, centred and mapped by the metrics
// of `options`. Leaves them as they are where there is no metric. A metric of the covariance within classes that is
// learnt after the prior shrinks towards the prior's covariance instead of the sphere. The prior is left out where
// `input` has another power than its features had, and where held-out classes (within_class_metric.h) are likelier
// without it; where they cannot tell, as with one example a class, it is used. Throws Error{kInput} for a row that has
// no length and for a prior of another dimension.
MetricSpace enter_metric_space(LabelledExamples& rows, const FeatureTransform& input, const MetricOptions& options,
                               int threads);

// The linear head on rows of length 1 that `input` has transformed, whose scores are those of a linear `head` on rows
// of the space, with the length of a row there replaced by the mean over the training examples: which class has the
// largest score does not depend on that length where the head has no bias.
Head<float> leave_metric_space(const Head<float>& head, const FeatureTransform& space, double mean_inverse_length,
                               int threads);

// The mean of 1 / length over rows, of all processes that hold them.
double mean_inverse_length(ConstMatrixView<float> rows, const Partition& partition, std::size_t all_rows);

}  // namespace annulus
