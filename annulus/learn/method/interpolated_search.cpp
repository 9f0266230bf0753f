// Probes placed by log-odds, and an upper bound that is verified or moved up.
#include "annulus/learn/method/interpolated_search.h"

#include <algorithm>
#include <cmath>

#include "annulus/learn/method/first_head.h"
#include "annulus/learn/method/training_accuracy.h"

namespace annulus {
namespace {

// Log-odds of the accuracy fall about linearly with the logarithm of the radius, this fast where nothing else is known.
constexpr double kUsualSlope = 3.5;
// Between ends this close, a fraction of the radius, the line through their log-odds gives the radius well enough.
constexpr double kInterpolatedWidth = 0.08;

double log_odds(double accuracy) {
  const double fraction = std::clamp(accuracy, 0.001, 0.999);
  return std::log(fraction / (1.0 - fraction));
}

}  // namespace

InterpolatedSearch::InterpolatedSearch(RadiusProbe& probe, const SearchOptions& options, double target,
                                       double first_radius)
    : probe_(probe), options_(options), target_(target), first_radius_(first_radius) {
  low_.epsilon = options.lowest;
  high_.epsilon = options.highest;
}

double InterpolatedSearch::run() {
  bisect();
  if (raise_upper()) bisect();
  return options_.interpolate && low_.probed && high_.probed ? crossing() : middle();
}

void InterpolatedSearch::bisect() {
  double width_before_last = 4.0 * width();
  double width_before = 2.0 * width();
  while (width() >= enough()) {
    // Two probes that did not halve the range were badly placed: the middle is safe.
    const bool shrinks = width() <= width_before_last / 2.0 || !high_.probed;
    width_before_last = width_before;
    width_before = width();
    const Bound probed = probe(next_radius(shrinks));
    (passes(probed) ? low_ : high_) = probed;
    record_range();
  }
}

// The upper bound moves in strides that double, because the radius is most likely near; the bound that fails in the end
// has failed with a trained head.
bool InterpolatedSearch::raise_upper() {
  double stride = high_.probed ? (options_.interpolate ? 0.8 : 2.0) * enough() : high_.epsilon - options_.lowest;
  constexpr int kMostStrides = 40;
  bool moved = false;
  for (int i = 0; i < kMostStrides && probes_upper_again(); ++i, stride *= 2.0) {
    const Bound probed = probe(high_.epsilon);
    if (!passes(probed)) {
      high_ = probed;
      record_range();
      break;
    }
    low_ = probed;
    high_ = {probed.epsilon + stride, 0.0, false};
    if (!options_.expand) high_.epsilon = std::min(high_.epsilon, options_.highest);
    moved = true;
    record_range();
    if (width() < options_.tolerance) break;
  }
  return moved;
}

// An upper bound that failed may have done so with a barely trained head; one that did not is the end of the range.
bool InterpolatedSearch::probes_upper_again() const {
  if (high_.probed) return options_.verify_upper;
  return options_.expand || (options_.verify_upper && high_.epsilon < options_.highest);
}

double InterpolatedSearch::next_radius(bool shrinks) const {
  if (!any_probe_) return first_radius_;
  return options_.interpolate && shrinks ? likely_radius() : middle();
}

// The radius within the range at which the accuracies at its ends, or at the one end that was probed, put the target.
double InterpolatedSearch::crossing() const {
  const double below = log_odds(target_) - log_odds(high_.accuracy);
  const double above = log_odds(low_.accuracy) - log_odds(target_);
  if (!high_.probed) return std::min(low_.epsilon * std::exp(above / kUsualSlope), high_.epsilon);
  double slope = kUsualSlope;
  if (low_.probed) slope = (above + below) / std::log(high_.epsilon / low_.epsilon);
  if (!(slope > 0.0)) return high_.epsilon;
  return std::clamp(high_.epsilon * std::exp(-below / slope), low_.epsilon, high_.epsilon);
}

// Just beyond the crossing, on the side where the far end is: when the guess is right the range shrinks to it from
// that side, and ends with a probe from the other.
double InterpolatedSearch::likely_radius() const {
  const double guess = crossing();
  const double aside = 0.4 * enough();
  return std::clamp(guess < middle() ? guess + aside : guess - aside, low_.epsilon + aside, high_.epsilon - aside);
}

// The width of the range at which the search ends.
double InterpolatedSearch::enough() const {
  return options_.interpolate ? std::max(options_.tolerance, kInterpolatedWidth * low_.epsilon) : options_.tolerance;
}

InterpolatedSearch::Bound InterpolatedSearch::probe(double epsilon) {
  any_probe_ = true;
  return {epsilon, probe_.train_and_evaluate(epsilon), true};
}

template <class T>
double prototype_radius(const TrainingExamples<T>& examples, const SearchOptions& options,
                        const ProgressCallback& progress) {
  const Head<T> prototypes = prototype_head(examples, *options.probe.layout);
  const auto accuracy_at = [&](double epsilon) {
    TrainOptions measure = options.probe;
    measure.epsilon = epsilon;
    return training_accuracy(prototypes, examples, measure, progress);
  };
  const double wanted = 0.8 * accuracy_at(0.0);
  double low = options.lowest;
  double high = options.highest;
  constexpr int kHalvings = 8;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2.0;
    (accuracy_at(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

template double prototype_radius(const TrainingExamples<float>&, const SearchOptions&, const ProgressCallback&);
template double prototype_radius(const TrainingExamples<double>&, const SearchOptions&, const ProgressCallback&);

}  // namespace annulus
