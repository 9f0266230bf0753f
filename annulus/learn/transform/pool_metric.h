// The metric of unlabelled examples: how each differs from its nearest neighbour stands for how examples of one class
// differ.
#pragma once

#include <cstddef>

#include "annulus/base/matrix.h"
#include "annulus/learn/transform/metric_prior.h"

namespace annulus {

inline constexpr std::size_t kLeastPoolPerClass = 2;    // examples: in a smaller pool neighbours are of other classes
inline constexpr std::size_t kLeastPool = 16;           // examples: fewer show hardly a direction
inline constexpr double kPoolShrinkage = 0.5;           // towards the sphere: some neighbours are of other classes
inline constexpr std::size_t kMostPoolRows = 1U << 14;  // examples looked at

struct PoolMetric {
  MetricPrior prior;          // its metric is empty where the pool is too small
  std::size_t looked_at = 0;  // examples
  std::size_t copies = 0;     // examples that do not differ from their nearest neighbour, and say nothing
};

// How many examples a pool has to have to stand beside `classes` classes.
std::size_t least_pool(std::size_t classes);

// Learns from raw features of any examples, which are raised to `power` and scaled to length 1. Nearest neighbours are
// found among the centred rows, a metric is learnt from their differences, neighbours are found once more in that
// metric, and the result is learnt from these. Neither labels nor means of classes are guessed, so errors do not feed
// on themselves. At most kMostPoolRows examples and 2^24 numbers are looked at, evenly spaced in an order that depends
// on their features alone: the order of the rows does not matter, bit for bit. Costs two products of examples x
// examples x dimension. Throws Error{kInput} for a row of zeros.
PoolMetric learn_pool_metric(ConstMatrixView<float> rows, float power, int threads);

}  // namespace annulus
