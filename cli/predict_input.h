// What predict is asked about: a feature file, images, folders of images, or standard input.
#pragma once

#include <string>
#include <vector>

#include "annulus/learn/model.h"
#include "annulus/task/feature_set.h"
#include "cli/encoder.h"
#include "cli/progress_bar.h"

namespace annulus::cli {

struct PredictInput {
  std::vector<std::string> paths;
  std::string labels;      // of a feature file that has none
  EncoderOptions encoder;  // without a backbone or preprocessing: those that the model was trained with
};

// The rows to predict. A single path that is neither a folder nor named like an image is a feature file; "-" is
// standard input: one image, or else a list of paths, one a line. Throws Error{kInput} when the rows do not come from
// the backbone and preprocessing that the model (read from model_file) was trained with.
FeatureSet load_prediction_input(const PredictInput& input, const Model& model, const std::string& model_file,
                                 int threads, ProgressBar& bar);

}  // namespace annulus::cli
