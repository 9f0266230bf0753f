// The studio's model: small changes update it at once, a fit trains it anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "annulus/base/clock.h"
#include "annulus/base/progress.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/predictor.h"
#include "studio_engine/training_snapshot.h"

namespace annulus::studio {

// A model of the project at one moment; never changed once published.
struct TrainedModel {
  Model model;
  std::unique_ptr<Predictor> predictor;  // looks at `model`; explains its predictions
  std::string content;                   // TrainingSnapshot::content of the photos it was trained from
  std::size_t held_out = 0;              // examples that were held out; 0: nothing is known about new photos
  std::size_t held_out_correct = 0;
  // Made by updates since the last fit, whose probabilities and held-out examples it keeps.
  bool incremental = false;
  std::uint64_t number = 0;  // of the models since the start
  double seconds = 0.0;      // that it took
};

// One mutex guards which model is the latest; training runs without it. One thread, the worker, calls the functions
// that change the model; the const functions may be called from any thread.
class ModelTrainer {
 public:
  // model_file: where the models of fits are kept.
  ModelTrainer(std::filesystem::path model_file, int threads);

  std::shared_ptr<const TrainedModel> model() const;  // the latest; null: none yet
  double seconds_since_model() const;                 // since there was another model

  // Reads the model of the last session. False when there is none that can be used.
  bool load();
  // Makes the model of the last fit the latest when it was trained from `content`, as after an undo. False otherwise.
  bool restore_fit(const std::string& content);
  // Whether the latest model keeps what an update starts from.
  bool can_update() const;
  // Updates the latest model by what changed since. False when it cannot, or too much has changed: fit() is due.
  bool update(TrainingSnapshot snapshot);
  // Trains anew, writes the model file and publishes the model. Throws Error{kCancelled}, and changes nothing, when
  // `progress` returns false.
  void fit(TrainingSnapshot snapshot, const ProgressCallback& progress);

 private:
  void publish(std::shared_ptr<TrainedModel> model);

  const std::filesystem::path model_file_;
  const int threads_;
  mutable std::mutex mutex_;  // guards all below
  std::shared_ptr<const TrainedModel> model_;
  std::shared_ptr<const TrainedModel> fitted_;  // the latest of a fit
  std::uint64_t models_ = 0;                    // so far
  SteadyTime published_{};
};

}  // namespace annulus::studio
