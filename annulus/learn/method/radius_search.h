// The search for epsilon, the largest radius at which virtual examples are still classified correctly.
#pragma once

#include <cstddef>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/method/head.h"
#include "annulus/learn/method/trainer.h"
#include "annulus/learn/method/virtual_examples.h"

namespace annulus {

// The defaults are the paper's.
struct SearchOptions {
  double threshold = 0.9;       // T0: wanted accuracy on virtual examples; T = min(T0, ACC_up)
  double lowest = 0.0;          // lower end of the range that is searched
  double highest = 10.0;        // upper end
  double tolerance = 0.05;      // the search ends when the range is narrower
  bool interpolate = false;     // place probes by the log-odds of the accuracies at the ends of the range
  bool verify_upper = false;    // before ending, probe an upper bound that failed again with the now trained head
  bool expand = false;          // move `highest` up while the radius there still passes
  bool common_noise = false;    // every probe sees the same random numbers, so that only the radius differs
  bool warm_start = false;      // the first probe continues the head that was trained for ACC_up
  bool stop_early = false;      // end the training for ACC_up once an epoch's accuracy is above T0: T is then known
  std::size_t least_steps = 0;  // a probe takes more epochs than `probe` has until it makes this many steps: with one
                                // or two steps an epoch the radius depends on how often the head was trained before
  TrainOptions pretrain{};      // the head on the training examples themselves that gives ACC_up
  TrainOptions probe{};         // each probe; the search sets its epsilon
};

// What was measured at one radius.
struct Probe {
  double epsilon = 0.0;
  double accuracy = 0.0;  // on fresh virtual examples of that radius
  bool passed = false;    // accuracy > T
  double low = 0.0;       // range after the probe
  double high = 0.0;
  double seconds = 0.0;
};

struct SearchResult {
  double epsilon = 0.0;         // the middle of the last range, or the radius interpolated within it
  double target = 0.0;          // T
  double upper_accuracy = 0.0;  // ACC_up
  std::vector<Probe> probes;
  double seconds = 0.0;
};

// What a search does at a radius. PaperBisection and InterpolatedSearch know nothing else about training.
class RadiusProbe {
 public:
  RadiusProbe() = default;
  virtual ~RadiusProbe() = default;
  RadiusProbe(const RadiusProbe&) = delete;
  RadiusProbe& operator=(const RadiusProbe&) = delete;

  // Trains the one head that all probes share at radius `epsilon` and returns its accuracy on fresh virtual examples of
  // that radius. Adam starts anew each time.
  virtual double train_and_evaluate(double epsilon) = 0;
  // The range that is left after the last probe, for the record.
  virtual void record_range(double low, double high) = 0;
};

// Trains a head on the training examples for ACC_up, then searches: by InterpolatedSearch where the options
// interpolate, verify_upper or expand are set, otherwise by PaperBisection. Throws Error{kUsage} for options out of
// range and Error{kCancelled} when progress says stop.
template <class T>
SearchResult search_radius(const TrainingExamples<T>& examples, HeadKind kind, const SearchOptions& options,
                           const ProgressCallback& progress = {});

}  // namespace annulus
