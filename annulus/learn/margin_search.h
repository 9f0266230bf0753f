// The search for epsilon: the largest radius at which virtual examples are still classified correctly.
#pragma once

#include <cstddef>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/head.h"
#include "annulus/learn/trainer.h"
#include "annulus/learn/virtual_examples.h"

namespace annulus {

struct SearchOptions {
  double threshold = 0.9;  // T0: wanted accuracy on virtual examples; T = min(T0, accuracy on the originals)
  double lowest = 0.0;     // the range that is bisected, starting at its middle
  double highest = 10.0;
  double tolerance = 0.05;    // the search ends when the range is narrower
  bool expand = false;        // double `highest` while the radius there still passes (the paper: no)
  bool verify_upper = false;  // before ending, probe the upper bound again with the now trained head and go on if it
                              // passes: an early probe by a barely trained head may have failed (the paper: no)
  bool common_noise = false;  // every probe sees the same random numbers, so that they differ by their radius alone
  bool interpolate = false;   // place probes where the accuracies at the ends of the range put T, not in its middle,
                              // and end at 8 % of the radius if that is wider than `tolerance` (the paper: no)
  bool warm_start = false;    // the first probe goes on from the head trained on the originals (the paper: a fresh one)
  bool stop_early = false;    // end the training on the originals once an epoch's accuracy is above T0: ACC_up can
                              // lower T no more (the paper: no)
  std::size_t least_steps =
      0;                    // a probe takes more epochs than it says until it makes that many steps: with a step or
                            // two an epoch the radius depends on how often the head was trained before (the paper: no)
  TrainOptions pretrain{};  // the head on the originals that sets ACC_up
  TrainOptions probe{};     // each probe; its epsilon is set by the search
};

struct Probe {
  double epsilon = 0.0;
  double accuracy = 0.0;  // on fresh virtual examples of that radius
  bool passed = false;    // accuracy > T
  double low = 0.0;       // range after the probe
  double high = 0.0;
  double seconds = 0.0;
};

struct SearchResult {
  double epsilon = 0.0;         // the middle of the last range, or what is interpolated within it
  double target = 0.0;          // T
  double upper_accuracy = 0.0;  // ACC_up
  std::vector<Probe> probes;
  double seconds = 0.0;
};

// Runs the search. Probes share one head, carried over; Adam starts anew each time.
template <class T>
SearchResult search_margin(const TrainingRows<T>& rows, HeadKind kind, const SearchOptions& options,
                           const ProgressCallback& progress = {});

}  // namespace annulus
