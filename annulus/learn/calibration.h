// Learns from training rows alone how far a model's answers can be trusted: the temperature of its probabilities, and
// the scores that known things have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/learn/held_out.h"
#include "annulus/learn/recipe.h"
#include "annulus/learn/support_rows.h"
#include "annulus/learn/unknown_rule.h"

namespace annulus {

struct Calibration {
  double temperature = 1.0;
  UnknownRule unknown;               // empty where there were too few classes to leave some out
  Matrix<float> probabilities;       // of the held-out rows, at the temperature of the heads that never saw them
  std::vector<std::int32_t> labels;  // of the held-out rows; empty: nothing could be held out
};

// How good the answers about held-out rows were.
struct HeldOutQuality {
  std::size_t rows = 0;
  double accuracy = 0.0;           // share that was right
  double calibration_error = 0.0;  // expected one over fifteenths of confidence, as a share
};

HeldOutQuality quality_of(const Calibration& calibration);

inline constexpr std::size_t kLeastHeldOut = 20;  // rows, for a rule from known things: with fewer, rule_from_strangers

// Holds a third of the rows of every class out in turn (half where no class has three), trains on the others at the
// radius of `fit`, and looks at what is said about the rows held out. A class of one row is always trained on; where
// fewer than kLeastHeldOut rows are left to be held out, replicas (replicas.h) stand beside them for the temperature,
// which ask for one to five trainings without part of the classes.
// Heads that learnt from fewer rows tell classes apart less well than the one that is kept: its temperature is theirs
// divided by the root of logit_growth.
// Ends once about 1000 rows were held out: two last trainings where rows are few, less than one where they are many.
// The rule about strangers asks for two to seven more, on parts of the classes: the fewer rows, the more; where fewer
// than kLeastHeldOut rows could be held out, for five. The result is a pure function of rows, recipe and seed.
// `weights`, empty or one for each row of the support, are those that `fit` was given; the rule about strangers counts
// all rows alike. Without `with_rule` it is left empty, which saves the trainings that only it asks for.
Calibration calibrate(const SupportRows& support, const FitResult& fit, const Recipe& recipe, Refit& refit,
                      const ProgressCallback& progress = {}, std::span<const float> weights = {},
                      bool with_rule = true);

// Rows whose labels are known, and what a head says about them.
struct TemperatureSample {
  ConstMatrixView<float> logits;
  std::span<const std::int32_t> labels;
  std::span<const float> weights = {};  // of the rows; empty: all count the same
  double factor = 1.0;                  // how much a row of weight 1 counts
};

// The temperature t that minimises, over rows of logits z with their labels,
//   sum of -log softmax(z / t)[label] + log(t)^2 / (2 * 0.5^2),
// rows counted by their weights. The last part is what keeps a handful of rows from asking for extremes. 1 where there
// is no row.
double best_temperature(std::span<const TemperatureSample> samples, int threads = 0);

// Replicas count as much as this many rows, however many they are: they know the head, but not how much rows of a class
// really differ.
inline constexpr double kReplicaRows = 4.0;

// How much the logits of unseen rows grow when a class has `shots` rows instead of `fewer`, of which pairs have the
// correlation rho: f(shots) / f(fewer) with f(k) = k rho / (1 + (k - 1) rho). A head that gives its k rows the logit 1
// by a sum over them gives f(k) to the next one.
double logit_growth(double rho, double fewer, double shots);

}  // namespace annulus
