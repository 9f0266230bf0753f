// SharedFit: what a fit by several processes, or one that goes on after it was ended, needs beside its recipe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "annulus/base/distributed/communicator.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/store/models/fit_checkpoint_file.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct SharedFitOptions {
  std::size_t class_ranks = 0;       // blocks into which the classes are divided; 0: chosen by their number
  std::filesystem::path checkpoint;  // empty: none is kept
  double checkpoint_seconds = 30.0;  // between two saved states
  // What the numbers of the fit depend on beside the recipe and the set.
  std::string shots = "all";
  bool calibrate = true;
  std::size_t noise_group = 0;
};

struct SharedFit {
  std::unique_ptr<Communicator> communicator;  // null: there is one process
  std::optional<ParallelLayout> layout;
  std::optional<FitCheckpointFile> checkpoint;
};

// Makes the layout and opens the checkpoint, and puts both into the recipe; `shared` has to outlive it. Nothing where
// there is one process and no checkpoint. Throws Error{kInput} where another process was given other examples or
// options, and what FitCheckpointFile throws.
void prepare_shared_fit(const SharedFitOptions& options, const FeatureSet& set, SharedFit& shared, Recipe& recipe);

}  // namespace annulus
