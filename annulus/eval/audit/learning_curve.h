// Accuracy as a function of the number of examples per class, measured and extrapolated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"

namespace annulus {

struct ShotAccuracy {
  std::size_t shots = 0;
  double accuracy = 0.0;  // percent, mean over classes
  double low = 0.0;       // ends of the 95 % interval
  double high = 0.0;
};

struct LearningCurve {
  std::size_t shots = 0;                // examples of the median class
  std::vector<ShotAccuracy> measured;   // fewer shots than that, so that some examples remain for testing
  std::vector<ShotAccuracy> predicted;  // at `shots`, one more and twice as many; empty: too few examples
};

// Where examples have groups (as FeatureSetParts::groups), groups are counted, drawn and left for testing.
//
// Accuracy of the nearest prototype over random splits, tested on the remaining examples, in classes with two examples
// or more; at least one example of a class remains. Predictions extrapolate error = floor + drop / shots^power, fitted
// to the measured points. Intervals are from bootstrap samples of classes and splits; with fewer than three measured
// points the power is sampled too. They cannot know how new photos differ from the present ones. Empty when fewer than
// two classes have two examples.
LearningCurve learning_curve(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                             std::uint64_t seed, int threads, const ProgressCallback& progress,
                             std::span<const std::int32_t> groups = {});

}  // namespace annulus
