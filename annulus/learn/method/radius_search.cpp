// The training for ACC_up, the probe, and the choice between the two searches.
#include "annulus/learn/method/radius_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/first_head.h"
#include "annulus/learn/method/interpolated_search.h"
#include "annulus/learn/method/paper_bisection.h"
#include "annulus/learn/method/training_accuracy.h"

namespace annulus {
namespace {

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

// Trains `head` on the training examples themselves and returns its accuracy on them: ACC_up.
template <class T>
double upper_accuracy(Head<T>& head, const TrainingExamples<T>& examples, const SearchOptions& options,
                      const ProgressCallback& progress) {
  TrainOptions pretrain = options.pretrain;
  pretrain.epsilon = 0.0;
  double while_training = 0.0;
  if (options.stop_early && pretrain.from_prototypes) {
    const double untrained = training_accuracy(head, examples, pretrain, progress);
    if (untrained > options.threshold) return untrained;
  }
  TrainHooks<T> hooks;
  if (options.stop_early) {
    hooks.after_epoch = [&](const EpochRecord& record) {
      while_training = record.accuracy;
      return record.accuracy > options.threshold;
    };
  }
  const auto watch = [&](const Progress& inner) {
    return !progress || progress({"train on the training examples", inner.done, inner.total, {}});
  };
  train(head, examples, pretrain, ProgressCallback(watch), hooks);
  return std::max(while_training, training_accuracy(head, examples, pretrain, progress));
}

// The probe of a real search: holds the carried-over head and records every probe in the result.
template <class T>
class HeadProbe : public RadiusProbe {
 public:
  HeadProbe(const TrainingExamples<T>& examples, Head<T> head, const SearchOptions& options, SearchResult& result,
            const ProgressCallback& progress)
      : examples_(examples), options_(options), result_(result), progress_(progress), head_(std::move(head)) {}

  double train_and_evaluate(double epsilon) override {
    const auto start = now();
    TrainOptions probe = options_.probe;
    probe.epsilon = epsilon;
    const std::size_t steps = steps_an_epoch(examples_.rows(), probe);
    probe.epochs = std::max(probe.epochs, (options_.least_steps + steps - 1) / steps);
    if (!options_.common_noise) probe.run += static_cast<std::uint32_t>(result_.probes.size());
    probe.continues = options_.warm_start || !result_.probes.empty();
    const auto watch = [&](const Progress& inner) {
      return !progress_ ||
             progress_({"search epsilon", result_.probes.size() * 100 + inner.done * 100 / inner.total,
                        std::max(expected_, result_.probes.size() + 1) * 100, fmt::format("epsilon {:.2f}", epsilon)});
    };
    train(head_, examples_, probe, ProgressCallback(watch));
    const auto at_end = [&](const Progress&) { return watch({{}, 1, 1, {}}); };
    const double accuracy = training_accuracy(head_, examples_, probe, ProgressCallback(at_end));
    result_.probes.push_back({epsilon, accuracy, accuracy > result_.target, 0.0, 0.0, seconds_since(start)});
    return accuracy;
  }

  void record_range(double low, double high) override {
    result_.probes.back().low = low;
    result_.probes.back().high = high;
  }

 private:
  const TrainingExamples<T>& examples_;
  const SearchOptions& options_;
  SearchResult& result_;
  const ProgressCallback& progress_;
  Head<T> head_;
  // Probes of a bisection, for the progress.
  const std::size_t expected_ = static_cast<std::size_t>(
      std::max(1.0, std::ceil(std::log2((options_.highest - options_.lowest) / options_.tolerance))));
};

}  // namespace

template <class T>
SearchResult search_radius(const TrainingExamples<T>& examples, HeadKind kind, const SearchOptions& options,
                           const ProgressCallback& progress) {
  check(options);
  const auto start = now();
  SearchResult result;
  Head<T> head = first_head(examples, kind, options.pretrain);
  result.upper_accuracy = upper_accuracy(head, examples, options, progress);
  result.target = std::min(options.threshold, result.upper_accuracy);
  if (!options.warm_start) head = first_head(examples, kind, options.probe);
  HeadProbe<T> probe(examples, std::move(head), options, result, progress);
  if (options.interpolate || options.verify_upper || options.expand) {
    const double first =
        options.interpolate ? prototype_radius(examples, options, progress) : (options.lowest + options.highest) / 2.0;
    result.epsilon = InterpolatedSearch(probe, options, result.target, first).run();
  } else {
    result.epsilon = PaperBisection(probe, options, result.target).run();
  }
  result.seconds = seconds_since(start);
  return result;
}

template SearchResult search_radius(const TrainingExamples<float>&, HeadKind, const SearchOptions&,
                                    const ProgressCallback&);
template SearchResult search_radius(const TrainingExamples<double>&, HeadKind, const SearchOptions&,
                                    const ProgressCallback&);

}  // namespace annulus
