// The metric of the covariance within classes: learnt from training examples, with a shrinkage that classes which it
// was not learnt from decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "annulus/base/distributed/partition.h"
#include "annulus/base/matrix.h"
#include "annulus/learn/transform/metric.h"

namespace annulus {

inline constexpr std::size_t kMetricRank = 128;  // axes of a metric at most; more gain nothing

struct WithinClassMetric {
  Metric metric;             // empty where no class has two examples, or where they do not differ
  double strength = 1.0;     // of the sphere, in examples for each dimension: how many examples it counts as
  double shrinkage = 1.0;    // towards the sphere: strength * d / (strength * d + examples)
  std::size_t examples = 0;  // that it was learnt from: those of classes with two or more
  // Minus the log of the posterior of the strength chosen, which grows with the likelihood of held-out classes; absent
  // where none was chosen. Comparable between maps of the same rows.
  std::optional<double> held_out_loss{};
};

// Learns from centred rows of about unit length and their labels in [0, classes), weighted where there are weights (one
// for each example; only their ratios count). The covariance S within classes is shrunk to (n S + strength d v I) / (n
// + strength d), with n examples, d dimensions and v the mean variance: the mean of the posterior under an inverse
// Wishart prior.
//
// Without a `strength` it is chosen so that metrics carry over to classes they have not seen. Each half of the classes
// gives a metric; in it, every example of the other half is compared with the prototypes of all classes, its own
// without it. The strength with the largest likelihood of the right classes is taken, with log(strength) ~ N(0, 2^2) a
// priori.
//
// Where processes hold the rows together, `rows` are those of this one, all else is of all, and every process gets the
// same metric. At most 2^24 numbers of features are looked at: whole classes, evenly spaced.
WithinClassMetric learn_within_class_metric(ConstMatrixView<float> rows, std::span<const std::int32_t> labels,
                                            std::size_t classes, std::span<const float> weights,
                                            const Partition& partition, std::optional<double> strength, int threads);

}  // namespace annulus
