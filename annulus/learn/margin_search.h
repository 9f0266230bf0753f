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
  bool stop_early = false;    // end a probe's training once its epoch's accuracy is well above T; the head carried over
                              // is then trained less, and the radius found is smaller (the paper: no)
  TrainOptions pretrain{};    // the head on the originals that sets ACC_up
  TrainOptions probe{};       // each probe; its epsilon is set by the search
};

struct Probe {
  double epsilon = 0.0;
  double accuracy = 0.0;  // on fresh virtual examples of that radius
  bool passed = false;    // accuracy > T
  double low = 0.0;       // range after the probe
  double high = 0.0;
  double seconds = 0.0;
  std::size_t epochs = 0;  // trained; fewer than asked for when the outcome was clear before
};

struct SearchResult {
  double epsilon = 0.0;         // the middle of the last range
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
