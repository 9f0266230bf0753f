// Generated features with the look of a backbone's: for demonstrations and tests that need no data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "annulus/task/feature_set.h"

namespace annulus {

struct SyntheticOptions {
  std::size_t classes = 200;
  std::size_t train_rows = 20;  // of each class, is_train 1
  std::size_t test_rows = 20;   // of each class, is_train 0
  std::size_t dimension = 256;
  double noise = 1.0;  // within-class spread, as a multiple of the spread of the class means
  double decay = 0.8;  // variance of dimension j is (1 + j)^-decay: a few directions carry most of it
  std::uint64_t seed = 0;
};

// Row = class mean + noise, both Gaussian with a decaying spectrum, classes named "class-000"...; a pure function of
// the options. Throws Error{kUsage} when a count is 0 or the set would not fit in memory.
FeatureSet make_synthetic(const SyntheticOptions& options);

}  // namespace annulus
