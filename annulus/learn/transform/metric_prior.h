// MetricPrior: a metric that belongs to a backbone, learnt beforehand from other examples than those of a task.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "annulus/learn/transform/metric.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

inline constexpr double kPriorShrinkage =
    0.3;  // of its covariance towards the sphere, since other classes vary otherwise

struct MetricPrior {
  Metric metric;         // of features that were raised to `power` and scaled to length 1
  float power = 1.0F;    // of the power transform; 1: none
  std::string checksum;  // names it in records; empty: nobody asked for one
};

// Learns the metric of the covariance within classes of raw features of one backbone: the mean over the sets of each
// set's covariance divided by its trace, so that every set counts the same. Features are raised to the power that the
// transform "auto" takes for them. Classes of one example tell nothing; of each set at most 2^24 numbers of features
// are looked at, of whole classes, evenly spaced. Views of a photo without labels are a class of their own. Throws
// Error{kInput} where no class of a set has two examples that differ, and for sets of different dimensions.
MetricPrior learn_metric_prior(std::span<const LabelledExamples> sets, double shrinkage, int threads);

}  // namespace annulus
