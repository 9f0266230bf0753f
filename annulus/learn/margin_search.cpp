// The search for epsilon, with the paper's bisection and safer or quicker options beside it.
#include "annulus/learn/margin_search.h"

#include <algorithm>
#include <cmath>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/kernels/rows.h"
#include "annulus/learn/work_share.h"

namespace annulus {
namespace {

// Log-odds of the accuracy fall about linearly with the logarithm of the radius, this fast where nothing else is known.
constexpr double kUsualSlope = 3.5;
// Between ends this close, a share of the radius, the line through their log-odds gives the radius well enough.
constexpr double kInterpolatedWidth = 0.08;

double log_odds(double accuracy) {
  const double share = std::clamp(accuracy, 0.001, 0.999);
  return std::log(share / (1.0 - share));
}

void check(const SearchOptions& options) {
  if (!(options.threshold > 0.0 && options.threshold <= 1.0)) {
    fail(ErrorKind::kUsage, "expected a threshold above 0 and at most 1, found {}", options.threshold);
  }
  if (!(options.lowest >= 0.0 && options.highest > options.lowest && std::isfinite(options.highest))) {
    fail(ErrorKind::kUsage, "expected a search range of two radii, 0 or more, in ascending order, found {} to {}",
         options.lowest, options.highest);
  }
  if (!(options.tolerance > 0.0)) {
    fail(ErrorKind::kUsage, "expected a search tolerance above 0, found {}", options.tolerance);
  }
}

// Where a search that interpolates begins: the radius at which class means, which need no training, keep four fifths of
// their accuracy. Found by looking at a few radii; the answer was measured to be 0.9 to 1.6 times as large.
template <class T>
double first_radius(const TrainingRows<T>& rows, const SearchOptions& options, const ProgressCallback& progress) {
  const Slice block = class_block(options.probe.share, rows.classes);
  Head<T> means{HeadKind::kCosine, Matrix<T>(block.count, rows.dimension()), std::vector<T>(block.count, T{1}), {}};
  for_each_row(rows.cut, rows.features.view(), rows.rows(), [&](std::size_t i, std::span<const T> row) {
    const std::size_t place = static_cast<std::size_t>(rows.labels[i]) - block.first;  // huge for those before it
    if (place < block.count) add_row(row, means.direction.row(place));
  });
  const auto accuracy_at = [&](double epsilon) {
    TrainOptions look = options.probe;
    look.epsilon = epsilon;
    return training_accuracy(means, rows, look, progress);
  };
  const double wanted = 0.8 * accuracy_at(0.0);
  double low = options.lowest;
  double high = options.highest;
  constexpr int kLooks = 8;
  for (int i = 0; i < kLooks; ++i) {
    const double middle = (low + high) / 2.0;
    (accuracy_at(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

// The state of a search: the carried-over head and the range that is left.
template <class T>
class Bisection {
 public:
  Bisection(const TrainingRows<T>& rows, Head<T> head, const SearchOptions& options, SearchResult& result,
            const ProgressCallback& progress)
      : rows_(rows),
        options_(options),
        result_(result),
        progress_(progress),
        head_(std::move(head)),
        low_(options.lowest),
        high_(options.highest),
        first_(options.interpolate ? first_radius(rows, options, progress) : (low_ + high_) / 2.0) {}

  double run() {
    bisect();
    // The upper bound is asked about once more where the options say so. While it passes, it moves up in strides that
    // double, because the answer is most likely near; the bound that fails then has failed with a trained head.
    double stride = upper_failed_ ? (options_.interpolate ? 0.8 : 2.0) * enough() : high_ - options_.lowest;
    constexpr int kMostStrides = 40;
    bool moved = false;
    for (int i = 0; i < kMostStrides && asks_again() && upper_passes(); ++i, stride *= 2.0) {
      raise_low(high_);
      high_ += stride;
      if (!options_.expand) high_ = std::min(high_, options_.highest);
      upper_failed_ = false;
      moved = true;
      record_range();
      if (high_ - low_ < options_.tolerance) break;
    }
    if (moved) bisect();
    return options_.interpolate && low_passed_ && upper_failed_ ? crossing() : (low_ + high_) / 2.0;
  }

 private:
  // An upper bound that failed may have done so with a barely trained head; one that did not is the end of the range.
  bool asks_again() const {
    if (upper_failed_) return options_.verify_upper;
    return options_.expand || (options_.verify_upper && high_ < options_.highest);
  }

  void bisect() {
    double width_before_last = 4.0 * (high_ - low_);
    double width = 2.0 * (high_ - low_);
    while (high_ - low_ >= enough()) {
      // Two probes that did not halve the range were badly placed: the middle is safe.
      const bool shrinks = high_ - low_ <= width_before_last / 2.0 || !upper_failed_;
      width_before_last = width;
      width = high_ - low_;
      double radius = first_;
      if (!result_.probes.empty()) {
        radius = options_.interpolate && shrinks ? likely_radius() : (low_ + high_) / 2.0;
      }
      if (passes(radius)) {
        raise_low(radius);
      } else {
        high_ = radius;
        note_failure();
      }
      record_range();
    }
  }

  // The width of the range at which it ends.
  double enough() const {
    return options_.interpolate ? std::max(options_.tolerance, kInterpolatedWidth * low_) : options_.tolerance;
  }

  // The radius within the range at which the accuracies at its ends, or at the one end that was probed, put T.
  double crossing() const {
    const double below = log_odds(result_.target) - log_odds(high_accuracy_);
    const double above = log_odds(low_accuracy_) - log_odds(result_.target);
    if (!upper_failed_) return std::min(low_ * std::exp(above / kUsualSlope), high_);
    double slope = kUsualSlope;
    if (low_passed_) slope = (above + below) / std::log(high_ / low_);
    return slope > 0.0 ? std::clamp(high_ * std::exp(-below / slope), low_, high_) : high_;
  }

  // Just beyond the crossing, on the side where the far end is: when the guess is right the range shrinks to it from
  // that side, and ends with a probe from the other.
  double likely_radius() const {
    const double guess = crossing();
    const double aside = 0.4 * enough();
    const double middle = (low_ + high_) / 2.0;
    return std::clamp(guess < middle ? guess + aside : guess - aside, low_ + aside, high_ - aside);
  }

  void raise_low(double epsilon) {
    low_ = epsilon;
    low_accuracy_ = result_.probes.back().accuracy;
    low_passed_ = true;
  }

  void note_failure() {
    high_accuracy_ = result_.probes.back().accuracy;
    upper_failed_ = true;
  }

  bool upper_passes() {
    const bool passed = passes(high_);
    if (!passed) note_failure();
    return passed;
  }

  bool passes(double epsilon) {
    const auto start = now();
    TrainOptions probe = options_.probe;
    probe.epsilon = epsilon;
    const std::size_t steps = steps_an_epoch(rows_.rows(), probe);
    probe.epochs = std::max(probe.epochs, (options_.least_steps + steps - 1) / steps);
    if (!options_.common_noise) probe.run += static_cast<std::uint32_t>(result_.probes.size());
    probe.continues = options_.warm_start || !result_.probes.empty();
    const auto watch = [&](const Progress& inner) {
      return !progress_ ||
             progress_({"search epsilon", result_.probes.size() * 100 + inner.done * 100 / inner.total,
                        std::max(expected_, result_.probes.size() + 1) * 100, fmt::format("epsilon {:.2f}", epsilon)});
    };
    train(head_, rows_, probe, ProgressCallback(watch));
    const auto at_end = [&](const Progress&) { return watch({{}, 1, 1, {}}); };
    const double accuracy = training_accuracy(head_, rows_, probe, ProgressCallback(at_end));
    const bool passed = accuracy > result_.target;
    result_.probes.push_back({epsilon, accuracy, passed, low_, high_, seconds_since(start)});
    return passed;
  }

  void record_range() {
    result_.probes.back().low = low_;
    result_.probes.back().high = high_;
  }

  const TrainingRows<T>& rows_;
  const SearchOptions& options_;
  SearchResult& result_;
  const ProgressCallback& progress_;
  Head<T> head_;
  double low_;
  double high_;
  double first_;                // the radius that is probed first
  double low_accuracy_ = 0.0;   // at low_, once a probe passed there
  double high_accuracy_ = 0.0;  // at high_, once a probe failed there
  bool low_passed_ = false;     // a probe passed at low_; otherwise it is the end of the range
  bool upper_failed_ = false;   // a probe failed at high_; otherwise it is the end of the range
  const std::size_t expected_ = static_cast<std::size_t>(
      std::max(1.0, std::ceil(std::log2((options_.highest - options_.lowest) / options_.tolerance))));
};

}  // namespace

template <class T>
SearchResult search_margin(const TrainingRows<T>& rows, HeadKind kind, const SearchOptions& options,
                           const ProgressCallback& progress) {
  check(options);
  const auto start = now();
  SearchResult result;
  const auto watch = [&](const Progress& inner) {
    return !progress || progress({"train on the originals", inner.done, inner.total, {}});
  };
  const auto fresh_head = [&](const TrainOptions& training) {
    return initial_head<T>(kind, rows.classes, rows.dimension(), training.seed, start_stream(training),
                           class_block(training.share, rows.classes));
  };
  auto head = fresh_head(options.pretrain);
  TrainOptions pretrain = options.pretrain;
  pretrain.epsilon = 0.0;
  TrainHooks<T> hooks;
  if (options.stop_early) {
    hooks.after_epoch = [&](const EpochRecord& record) {
      result.upper_accuracy = record.accuracy;
      return record.accuracy > options.threshold;
    };
  }
  train(head, rows, pretrain, ProgressCallback(watch), hooks);
  result.upper_accuracy = std::max(result.upper_accuracy, training_accuracy(head, rows, pretrain, progress));
  result.target = std::min(options.threshold, result.upper_accuracy);
  if (!options.warm_start) head = fresh_head(options.probe);
  result.epsilon = Bisection<T>(rows, std::move(head), options, result, progress).run();
  result.seconds = seconds_since(start);
  return result;
}

template SearchResult search_margin(const TrainingRows<float>&, HeadKind, const SearchOptions&,
                                    const ProgressCallback&);
template SearchResult search_margin(const TrainingRows<double>&, HeadKind, const SearchOptions&,
                                    const ProgressCallback&);

}  // namespace annulus
