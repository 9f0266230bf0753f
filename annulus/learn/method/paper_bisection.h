// Algorithm 1 of the paper: the radius epsilon by bisection.
#pragma once

#include "annulus/learn/method/radius_search.h"

namespace annulus {

// Bisects [lowest, highest] of the options until it is narrower than their tolerance. One head is trained at every
// middle, carried over from probe to probe. `target` is T = min(threshold, ACC_up).
class PaperBisection {
 public:
  PaperBisection(RadiusProbe& probe, const SearchOptions& options, double target)
      : probe_(probe), options_(options), target_(target) {}

  // The middle of the last range.
  double run();

 private:
  RadiusProbe& probe_;
  const SearchOptions& options_;
  double target_;
};

}  // namespace annulus
