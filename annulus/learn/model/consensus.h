// What neighbouring frames of a video say together.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "annulus/task/feature_set.h"

namespace annulus {

// Replaces each prediction by that of the window of `frames` around it (an odd number; fewer at the ends). The
// probability of a class is proportional to the geometric mean of its probabilities in the window: the mean of their
// logarithms, each at least log 1e-6, so that one frame alone cannot rule a class out. The input is unknown where more
// than half of the window's frames are; unknown_score is their mean. Explanations stay those of the frame.
// `predictions` are of one video in the order of time and list every class; `top` classes are kept. Time: predictions x
// frames x classes.
void agree(std::span<Prediction> predictions, std::size_t frames, std::size_t top,
           std::span<const std::string> class_names, const ClassTree& tree = {}, double sure = kSure);

// predict_set() with the predictions of frames of a video (paths "clip.mp4#t=12.5") replaced by what `frames`
// neighbours of the same video agree on; rows of a video stand together, in the order of time, as list_images gives
// them. Boxes in frames, and all else, stay as they are; so does everything where `frames` is 1. All predictions are in
// memory at once. Throws Error{kUsage} for an even number or 0.
void predict_frames(const Model& model, const PredictorOptions& options, std::size_t frames, const FeatureSet& set,
                    const PredictionsCallback& use, const ProgressCallback& progress = {});

}  // namespace annulus
