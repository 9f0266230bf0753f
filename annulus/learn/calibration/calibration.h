// Calibrates a model on its training examples alone: the temperature of its probabilities, and the scores of known
// classes for the rejection rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/calibration/held_out.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/support_set.h"
#include "annulus/learn/openset/rejection_rule.h"

namespace annulus {

struct Calibration {
  double temperature = 1.0;
  UnknownRule unknown;  // empty when there were too few classes to leave some out
  Matrix<float>
      probabilities;  // of the held-out examples, at the temperature of the heads that were trained without them
  std::vector<std::int32_t> labels;  // of the held-out examples; empty: nothing could be held out
};

// The quality of the predictions on held-out examples.
struct HeldOutQuality {
  std::size_t examples = 0;
  double accuracy = 0.0;           // fraction that was right
  double calibration_error = 0.0;  // expected one over fifteenths of confidence, as a fraction
};

HeldOutQuality quality_of(const Calibration& calibration);

inline constexpr std::size_t kLeastHeldOut = 20;  // examples for a rule from known classes; else rule_from_unknown

// Holds a third of the rows of every class out, fold by fold (half where no class has three), trains on the others at
// the radius of `fit`, and looks at the predictions for the held-out examples. A class of one row is always trained on;
// where fewer than kLeastHeldOut rows are left to be held out, synthetic examples (synthetic_examples.h) stand beside
// them for the temperature, which ask for one to five trainings without part of the classes. Heads that learnt from
// fewer rows tell classes apart less well than the one that is kept: its temperature is theirs divided by the root of
// logit_growth. Ends once about 1000 rows were held out: two last trainings where rows are few, less than one where
// they are many. The rejection rule asks for two to seven more, on parts of the classes: the fewer rows, the more;
// where fewer than kLeastHeldOut rows could be held out, for five. The result is a pure function of rows, recipe and
// seed. `weights`, empty or one for each row of the support, are those that `fit` was given; the rejection rule counts
// all rows alike. Without `with_rule` it is left empty, which saves the trainings that only it asks for.
Calibration calibrate(const SupportSet& support, const FitResult& fit, const Recipe& recipe,
                      const ProgressCallback& progress = {}, std::span<const float> weights = {},
                      bool with_rule = true);

// Labelled examples and their logits.
struct TemperatureSample {
  ConstMatrixView<float> logits;
  std::span<const std::int32_t> labels;
  std::span<const float> weights = {};  // per example; empty: all count the same
  double factor = 1.0;                  // weight of the whole sample
};

// The temperature t that minimises, over rows of logits z with their labels,
//   sum of -log softmax(z / t)[label] + log(t)^2 / (2 * 0.5^2),
// weighted by example. The last term avoids extreme values when there are few examples. Returns 1 without examples.
double best_temperature(std::span<const TemperatureSample> samples, int threads = 0);

// The total weight of the synthetic examples, in examples, however many they are: they measure the head, but not how
// much the examples of a class really differ.
inline constexpr double kSyntheticWeight = 4.0;

// The factor by which the logits of unseen examples grow when a class has `shots` examples instead of `fewer`, with rho
// the mean correlation of two examples of a class: f(shots) / f(fewer) with f(k) = k rho / (1 + (k - 1) rho). A head
// that gives its k training examples the logit 1, as a sum over them, gives f(k) to the next one.
double logit_growth(double rho, double fewer, double shots);

}  // namespace annulus
