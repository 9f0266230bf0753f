// The checkpoint of a fit: its results so far, in a small file with large arrays in files beside it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/clock.h"
#include "annulus/base/distributed/communicator.h"
#include "annulus/learn/distributed/fit_checkpoint.h"
#include "annulus/store/files/byte_lock.h"

namespace annulus {

// FILE is a small JSON text that names the valid files beside it: FILE.head-N, the head of finished training N, and
// FILE.state-0 or -1, the training in progress (the values of an accuracy in progress are in FILE). Those are written
// and synced before FILE is replaced, so that a kill at any time leaves the last complete state. Processes that share a
// fit write their blocks into the same files; another number of processes may read them. All must see the same folder.
class FitCheckpointFile : public FitCheckpoint {
 public:
  struct Options {
    double seconds = 30.0;                 // between saved states
    Communicator* communicator = nullptr;  // the processes that share the fit; null: there is one
    bool writes = true;                    // of processes that hold the same block, one writes it
  };

  // Opens FILE if it exists, and holds FILE.lock. `key` identifies the data and options of the fit. Throws
  // Error{kInput} for the checkpoint of another fit, Error{kFormat} for a damaged one, and Error{kUsage} for one that
  // another job uses.
  FitCheckpointFile(std::filesystem::path path, std::string key, const Options& options);

  std::optional<double> find_accuracy() override;
  void keep_accuracy(double accuracy) override;
  std::optional<TrainingNumbers> find_training(std::span<const KeptNumbers> head) override;
  void keep_training(const TrainingNumbers& numbers, bool continues, std::span<const KeptNumbers> head) override;
  std::optional<TrainingNumbers> find_state(std::span<const KeptNumbers> state) override;
  bool state_is_due() const override;
  void keep_state(const TrainingNumbers& numbers, std::span<const KeptNumbers> state) override;

  // Steps that were restored rather than computed, over all trainings.
  std::uint64_t steps_found() const { return steps_found_; }
  // Removes FILE and the files beside it once the fit is done.
  void remove();

 private:
  struct Call {
    std::optional<double> accuracy;  // absent: a training
    TrainingNumbers numbers;
    bool has_head = false;
  };
  struct Running {
    TrainingNumbers numbers;
    std::size_t slot = 0;
  };

  bool first() const { return options_.communicator == nullptr || options_.communicator->rank() == 0; }
  void barrier() const;
  std::string read_text() const;
  void parse(const std::string& text);
  void commit() const;
  // The next call, if it is recorded; throws Error{kFormat} if it is of the other kind.
  const Call* next_call(bool training);
  std::filesystem::path head_file(std::size_t call) const;
  std::filesystem::path state_file(std::size_t slot) const;
  void write_numbers(const std::filesystem::path& file, std::span<const KeptNumbers> numbers) const;
  static void read_numbers(const std::filesystem::path& file, std::span<const KeptNumbers> numbers);
  void remove_files(const std::vector<std::filesystem::path>& files) const;

  std::filesystem::path path_;
  std::string key_;
  Options options_;
  std::optional<HeldFile> held_;  // by the first process
  std::vector<Call> calls_;
  std::optional<Running> running_;
  std::size_t next_ = 0;
  std::uint64_t steps_found_ = 0;
  SteadyTime kept_;  // time of the last saved state
};

}  // namespace annulus
