// Scores a model on labelled examples.
#pragma once

#include "annulus/base/progress.h"
#include "annulus/eval/score/score_report.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct ScoreSetOptions {
  double false_reject = kFalseReject;  // false-rejection rate of the examples that are marked as rejected
  int threads = 0;                     // 0: all processors
  double sure = kSure;                 // as PredictorOptions has it
};

// Predicts every example that is not marked as a training example and compares with its label, by name; labels that
// the model does not know make unknown inputs. Keeps about a hundred bytes of each example. Throws Error{kInput}
// without an example to score (KnownLabels::check) and for features of another dimension, Error{kUsage} for a rate
// outside [0, 1), and Error{kCancelled}.
ScoreReport score_set(const Model& model, const FeatureSet& set, const ScoreSetOptions& options = {},
                      const ProgressCallback& progress = {});

}  // namespace annulus
