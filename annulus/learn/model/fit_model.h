// From training examples to a model: the fit, its calibration on examples held out, and the record of both.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/learn/calibration/calibration.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/model/class_tree.h"
#include "annulus/learn/model/model.h"
#include "annulus/task/feature_set.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {

// Rows to learn from with everything a model remembers of them.
struct TrainingData {
  LabelledExamples rows;
  std::vector<std::string> paths;  // empty: not known
  std::vector<std::string> class_names;
  std::map<std::string, std::string> provenance;
  // Class i of the rows is class_names[class_order[i]]; empty: class_names[i].
  std::vector<std::size_t> class_order{};
  ClassParents parents{};  // groups of classes (Model::parents)
};

// The named rows of a set, whose source goes into the provenance. The members of a communicator hold them together:
// each gets a run of the rows in the order of to_content_order, and while it sorts also the others of the classes at
// its ends.
TrainingData training_data(const FeatureSet& set, std::span<const std::uint32_t> rows,
                           Communicator* communicator = nullptr);

struct FitModelOptions {
  bool calibrate = true;   // false: hold no examples out, whatever the recipe says
  bool strip = false;      // keep no training examples
  std::uint64_t seed = 0;  // for the record, like `shots`: how the examples were drawn
  std::string shots = "all";
};

struct ModelFit {
  Model model;
  FitResult fit;         // its heads are in the model
  Calibration held_out;  // its rule is in the model; without labels where nothing was held out
  double calibration_seconds = 0.0;
};

// What `annulus fit` does with loaded rows. Neither the order of the rows nor the names and the order of the classes
// matter (to_content_order): what is learnt of a class is the same bit for bit under any name, and stands in the order
// of data.class_names. Where processes hold the rows together, the first has the whole model, the others parts of it.
// The model holds no times and no thread count, so that the same input gives the same model, bit for bit.
ModelFit fit_model(TrainingData data, const Recipe& recipe, const FitModelOptions& options,
                   const ProgressCallback& progress = {});

}  // namespace annulus
