// Generated features that resemble those of a backbone, for demonstrations and tests without data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "annulus/task/feature_set.h"

namespace annulus {

struct SyntheticOptions {
  std::size_t classes = 200;
  std::size_t train_rows = 20;  // per class, with is_train 1
  std::size_t test_rows = 20;   // per class, with is_train 0
  std::size_t dimension = 256;
  // Spectra: variance j is proportional to (1 + j)^-decay. The means decay faster, so that the last directions are
  // mostly noise and no rescaling of the features makes the task easy.
  double mean_decay = 1.6;
  double noise_decay = 0.8;
  double noise = 0.9;  // total within-class spread, relative to that of the prototypes
  std::uint64_t seed = 0;
};

// Example = prototype + noise, both Gaussian with decaying spectra, classes named "class-000"...; a pure function of
// the options. Throws Error{kUsage} when a count is 0 or the set would not fit in memory.
FeatureSet make_synthetic(const SyntheticOptions& options);

}  // namespace annulus
