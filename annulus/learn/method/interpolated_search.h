// The radius search of the recipes ibm2, default and episodes: fewer probes than bisection, and bounds that are
// checked.
#pragma once

#include <cstddef>

#include "annulus/base/progress.h"
#include "annulus/learn/method/radius_search.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// A bisection with three changes, each of which an option turns on:
//   interpolate   a probe is placed where the log-odds of the accuracies at both ends of the range put the target, and
//                 the search ends at a width of 8 % of the radius, if that is wider than the tolerance
//   verify_upper  before it ends, an upper bound that failed is probed again with the now trained head
//   expand        an upper bound that never failed is moved up while it passes
// Without any of them it visits the radii of PaperBisection.
class InterpolatedSearch {
 public:
  // `target` is T = min(threshold, ACC_up); `first_radius` is probed first.
  InterpolatedSearch(RadiusProbe& probe, const SearchOptions& options, double target, double first_radius);

  // The interpolated radius where both ends of the last range were probed, otherwise its middle.
  double run();

 private:
  // One end of the range that is left.
  struct Bound {
    double epsilon = 0.0;
    double accuracy = 0.0;  // of the probe there
    bool probed = false;    // false: it is an end of the range that was given, and nothing is known about it
  };

  // Narrows the range until it is narrow enough.
  void bisect();
  // Moves the upper bound up while it passes another probe. True: it was moved.
  bool raise_upper();
  bool probes_upper_again() const;
  double next_radius(bool shrinks) const;
  double crossing() const;
  double likely_radius() const;
  double enough() const;
  double width() const { return high_.epsilon - low_.epsilon; }
  double middle() const { return (low_.epsilon + high_.epsilon) / 2.0; }
  // Probes a radius and returns it with its accuracy.
  Bound probe(double epsilon);
  bool passes(const Bound& bound) const { return bound.accuracy > target_; }
  void record_range() { probe_.record_range(low_.epsilon, high_.epsilon); }

  RadiusProbe& probe_;
  const SearchOptions& options_;
  double target_;
  double first_radius_;
  bool any_probe_ = false;
  Bound low_;   // passed, where it was probed
  Bound high_;  // failed, where it was probed
};

// Where a search that interpolates begins: the radius at which prototypes, which need no training, keep four fifths of
// their accuracy. Found by bisecting the search range eight times; the final radius was measured to be 0.9 to 1.6 times
// as large.
template <class T>
double prototype_radius(const TrainingExamples<T>& examples, const SearchOptions& options,
                        const ProgressCallback& progress = {});

}  // namespace annulus
