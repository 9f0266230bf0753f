// Bisection for epsilon, with the paper's behaviour and two safer options beside it.
#include "annulus/learn/margin_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// An epoch's accuracy lags behind the head it ends with, and grows as the learning rate falls: this far above the
// target the outcome of a probe is settled.
constexpr double kClearMargin = 0.01;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

// The state of a search: the carried-over head and the range that is left.
template <class T>
class Bisection {
 public:
  Bisection(const TrainingRows<T>& rows, HeadKind kind, const SearchOptions& options, SearchResult& result,
            const ProgressCallback& progress)
      : rows_(rows),
        options_(options),
        result_(result),
        progress_(progress),
        head_(initial_head<T>(kind, rows.classes, rows.dimension(), options.probe.seed, start_stream(options.probe))),
        low_(options.lowest),
        high_(options.highest) {}

  double run() {
    bisect();
    // The upper bound is asked about once more where the options say so. While it passes, it moves up in strides that
    // double, because the answer is most likely near; the bound that fails then has failed with a trained head.
    double stride = upper_failed_ ? 2.0 * options_.tolerance : high_ - options_.lowest;
    constexpr int kMostStrides = 40;
    bool moved = false;
    for (int i = 0; i < kMostStrides && asks_again() && passes(high_); ++i, stride *= 2.0) {
      low_ = high_;
      high_ += stride;
      if (!options_.expand) high_ = std::min(high_, options_.highest);
      upper_failed_ = false;
      moved = true;
      record_range();
      if (high_ - low_ < options_.tolerance) break;
    }
    if (moved) bisect();
    return (low_ + high_) / 2.0;
  }

 private:
  // An upper bound that failed may have done so with a barely trained head; one that did not is the end of the range.
  bool asks_again() const {
    if (upper_failed_) return options_.verify_upper;
    return options_.expand || (options_.verify_upper && high_ < options_.highest);
  }

  void bisect() {
    while (high_ - low_ >= options_.tolerance) {
      const double middle = (low_ + high_) / 2.0;
      if (passes(middle)) {
        low_ = middle;
      } else {
        high_ = middle;
        upper_failed_ = true;
      }
      record_range();
    }
  }

  bool passes(double epsilon) {
    const auto start = std::chrono::steady_clock::now();
    TrainOptions probe = options_.probe;
    probe.epsilon = epsilon;
    if (!options_.common_noise) probe.run += static_cast<std::uint32_t>(result_.probes.size());
    const auto watch = [&](const Progress& inner) {
      return !progress_ ||
             progress_({"search epsilon", result_.probes.size() * 100 + inner.done * 100 / inner.total,
                        std::max(expected_, result_.probes.size() + 1) * 100, fmt::format("epsilon {:.2f}", epsilon)});
    };
    std::size_t epochs = 0;
    TrainHooks<T> hooks;
    if (options_.stop_early) {
      hooks.after_epoch = [&](const EpochRecord& record) {
        epochs = record.epoch + 1;
        return record.accuracy > result_.target + kClearMargin;
      };
    }
    train(head_, rows_, probe, ProgressCallback(watch), hooks);
    const double accuracy = training_accuracy(head_, rows_, probe);
    const bool passed = accuracy > result_.target;
    result_.probes.push_back(
        {epsilon, accuracy, passed, low_, high_, seconds_since(start), options_.stop_early ? epochs : probe.epochs});
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
  bool upper_failed_ = false;  // a probe failed at high_; otherwise it is the end of the range
  const std::size_t expected_ = static_cast<std::size_t>(
      std::max(1.0, std::ceil(std::log2((options_.highest - options_.lowest) / options_.tolerance))));
};

}  // namespace

template <class T>
SearchResult search_margin(const TrainingRows<T>& rows, HeadKind kind, const SearchOptions& options,
                           const ProgressCallback& progress) {
  check(options);
  const auto start = std::chrono::steady_clock::now();
  SearchResult result;
  const auto watch = [&](const Progress& inner) {
    return !progress || progress({"train on the originals", inner.done, inner.total, {}});
  };
  auto head =
      initial_head<T>(kind, rows.classes, rows.dimension(), options.pretrain.seed, start_stream(options.pretrain));
  TrainOptions pretrain = options.pretrain;
  pretrain.epsilon = 0.0;
  train(head, rows, pretrain, ProgressCallback(watch));
  result.upper_accuracy = training_accuracy(head, rows, pretrain);
  result.target = std::min(options.threshold, result.upper_accuracy);
  result.epsilon = Bisection<T>(rows, kind, options, result, progress).run();
  result.seconds = seconds_since(start);
  return result;
}

template SearchResult search_margin(const TrainingRows<float>&, HeadKind, const SearchOptions&,
                                    const ProgressCallback&);
template SearchResult search_margin(const TrainingRows<double>&, HeadKind, const SearchOptions&,
                                    const ProgressCallback&);

}  // namespace annulus
