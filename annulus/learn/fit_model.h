// From training rows to a model: the fit, what it learns from rows held out, and the record of both.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/calibration.h"
#include "annulus/learn/model.h"
#include "annulus/learn/recipe.h"
#include "annulus/task/feature_set.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

// Rows to learn from with everything a model remembers of them.
struct TrainingData {
  LabelledRows rows;
  std::vector<std::string> paths;  // empty: not known
  std::vector<std::string> class_names;
  std::map<std::string, std::string> provenance;
};

// The named rows of a set, whose source goes into the provenance. The members of a team hold them together: each gets a
// run of the rows in the order of settle_rows, and while it sorts also the others of the classes at its ends.
TrainingData training_data(const FeatureSet& set, std::span<const std::uint32_t> rows, Team* team = nullptr);

struct FitModelOptions {
  std::string method = "ibm2";  // or "baseline"
  bool calibrate = true;        // hold rows out to learn the temperature and the rule about strangers; the paper's
                                // recipes never do
  bool strip = false;           // keep no training rows
  std::uint64_t seed = 0;       // for the record, like `shots`: what the rows were drawn by
  std::string shots = "all";
};

struct ModelFit {
  Model model;
  FitResult fit;         // its heads are in the model
  Calibration held_out;  // without labels where nothing was held out
  double calibration_seconds = 0.0;
};

// What `annulus fit` does with loaded rows. The order of the rows does not matter (settle_rows). Where processes hold
// the rows together, the first has the whole model, the others parts of it. The model holds no times and no thread
// count, so that the same input gives the same model, bit for bit. Throws Error{kUsage} for another method.
ModelFit fit_model(TrainingData data, const Recipe& recipe, const FitModelOptions& options,
                   const ProgressCallback& progress = {});

}  // namespace annulus
