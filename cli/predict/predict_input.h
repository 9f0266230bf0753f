// The inputs of predict: a feature file, images, folders of images, or standard input.
#pragma once

#include <string>
#include <vector>

#include "annulus/learn/model/model.h"
#include "annulus/task/feature_set.h"
#include "cli/encoder.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {

struct PredictInput {
  std::vector<std::string> paths;
  std::string labels;      // of a feature file that has none
  BoxOptions boxes{};      // boxes in photos, each predicted
  FrameOptions frames{};   // frames of videos, each predicted
  EncoderOptions encoder;  // without a backbone or preprocessing: those that the model was trained with
};

// The features to predict, as load_prediction_set has them; "-" is standard input: one image, or else a list of paths
// of images, one a line. The model was read from model_file.
FeatureSet load_prediction_input(const PredictInput& input, const Model& model, const std::string& model_file,
                                 int threads, ProgressBar& bar);

}  // namespace annulus::cli
