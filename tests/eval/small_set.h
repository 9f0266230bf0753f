// A generated set that is learnt in a moment and not quite told apart.
#pragma once

#include "annulus/task/synthetic.h"

namespace annulus {

inline FeatureSet small_set() {
  SyntheticOptions options;
  options.classes = 12;
  options.train_rows = 4;
  options.test_rows = 6;
  options.dimension = 16;
  options.noise = 1.5;
  return make_synthetic(options);
}

}  // namespace annulus
