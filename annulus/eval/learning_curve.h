// How accuracy grows with the number of rows a class, and what more of them would bring.
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
  double low = 0.0;       // ends of its 95 % interval
  double high = 0.0;
};

struct LearningCurve {
  std::size_t shots = 0;                // rows that the median class has
  std::vector<ShotAccuracy> measured;   // fewer rows than that, so that some are left to ask about
  std::vector<ShotAccuracy> predicted;  // at `shots`, one more and twice as many; empty: too few rows
};

// Accuracy of the nearest class mean over random draws of each class's rows, asked about rows not drawn, in classes
// with two rows or more; a class gives at most all but one. The predictions follow error = floor + drop / shots^power
// fitted to what was measured; the intervals are those of bootstrap samples of classes and draws, and where fewer than
// three points were measured the power is drawn too. They know nothing of how new photos may differ from the present
// ones. Empty when no class has two rows, or fewer than two classes do.
LearningCurve learning_curve(ConstMatrixView<float> rows, std::span<const std::int32_t> labels, std::size_t classes,
                             std::uint64_t seed, int threads, const ProgressCallback& progress);

}  // namespace annulus
