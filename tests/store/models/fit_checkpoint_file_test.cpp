// Fits that are ended again and again and go on from their checkpoint, with the same and with other numbers of
// processes.
#include "annulus/store/models/fit_checkpoint_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "annulus/base/error.h"
#include "annulus/learn/distributed/parallel_layout.h"
#include "annulus/learn/method/recipe.h"
#include "annulus/learn/method/training_accuracy.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"
#include "tests/fixtures/thread_communicator.h"

namespace annulus {
namespace {

LabelledExamples small_rows() {
  const FeatureSet set = make_synthetic({.classes = 7, .train_rows = 4, .test_rows = 1, .dimension = 10, .noise = 0.8});
  return gather(set, draw_split(set, {4, 1}).support);
}

Recipe short_recipe() {
  Recipe recipe = recipe_named("default");
  set_virtual_count(recipe, 6);
  set_epochs(recipe, 12);
  set_batch(recipe, 8);
  set_threads(recipe, 1);
  recipe.search.probe.epochs = 3;
  recipe.search.least_steps = 8;
  recipe.search.tolerance = 0.3;
  recipe.search.pretrain.from_prototypes = false;  // which may need no training at all
  recipe.search.pretrain.learning_rate = 0.02;
  return recipe;
}

bool same_bits(const Head<float>& a, const Head<float>& b) {
  return a.bias == b.bias && a.classes() == b.classes() &&
         std::equal(a.direction.data(), a.direction.data() + a.classes() * a.dimension(), b.direction.data());
}

// A fit with a state kept before every step, which is ended after `calls` reports of progress.
FitResult fit_until(const std::filesystem::path& file, std::size_t calls, std::uint64_t& found) {
  FitCheckpointFile log(file, "key", {0.0, nullptr, true});
  Recipe recipe = short_recipe();
  set_checkpoint(recipe, &log);
  const auto progress = [&](const Progress&) { return calls-- > 0; };
  try {
    FitResult result = fit_head(small_rows(), recipe, progress);
    found = log.steps_found();
    log.remove();
    return result;
  } catch (const Error&) {
    found = log.steps_found();
    throw;
  }
}

TEST(FitCheckpointFile, AnEndedFitGoesOnToTheSameBits) {
  const ScratchFolder scratch;
  const FitResult whole = fit_head(small_rows(), short_recipe());
  std::size_t ended = 0;
  std::uint64_t found_before = 0;
  for (;;) {
    std::uint64_t found = 0;
    try {
      const FitResult result = fit_until(scratch / "checkpoint", 9, found);
      EXPECT_TRUE(same_bits(result.head, whole.head));
      EXPECT_TRUE(same_bits(*result.trained, *whole.trained));
      EXPECT_EQ(result.epsilon, whole.epsilon);
      EXPECT_EQ(result.search->probes.size(), whole.search->probes.size());
      EXPECT_EQ(result.training_accuracy, whole.training_accuracy);
      EXPECT_EQ(result.virtual_accuracy, whole.virtual_accuracy);
      break;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kCancelled);
      ASSERT_LT(++ended, 200U) << "each start goes further than the one before";
    }
    EXPECT_GE(found, found_before);
    found_before = found;
  }
  EXPECT_GT(ended, 3U);
  EXPECT_EQ(scratch.files(), 0U) << "nothing is left once the fit is done";
}

// Ends the work right after the second state that is kept.
class EndingLog : public FitCheckpointFile {
 public:
  using FitCheckpointFile::FitCheckpointFile;
  void keep_state(const TrainingNumbers& numbers, std::span<const KeptNumbers> state) override {
    FitCheckpointFile::keep_state(numbers, state);
    if (++kept_ == 2) throw Error(ErrorKind::kCancelled, "ended");
  }

 private:
  int kept_ = 0;
};

TEST(FitCheckpointFile, AnEndedAccuracyGoesOnFromItsLastState) {
  const ScratchFolder scratch;
  const LabelledExamples labelled = small_rows();
  const auto rows = make_training_examples<float>(labelled.features.view(), labelled.labels, labelled.classes,
                                                  NoiseShape::kSpherical);
  TrainOptions options;
  options.batch = 4;
  options.virtual_count = 6;
  options.epsilon = 1.0;
  options.threads = 1;
  const auto head = initial_head<float>(HeadKind::kCosine, rows.classes, rows.dimension(), 1, 0);
  const double whole = training_accuracy(head, rows, options);
  std::size_t ended = 0;
  for (bool done = false; !done;) {
    EndingLog log(scratch / "checkpoint", "key", {0.0, nullptr, true});
    options.checkpoint = &log;
    try {
      EXPECT_EQ(training_accuracy(head, rows, options), whole);
      EXPECT_FALSE(log.find_state({}).has_value());
      log.remove();
      done = true;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kCancelled);
      ASSERT_LT(++ended, 7U) << "each start goes a batch further";
    }
  }
  EXPECT_EQ(ended, 6U) << "28 rows are seven batches, and a state is kept before each";
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(FitCheckpointFile, OneFitAtATimeIsAtACheckpoint) {
  const ScratchFolder scratch;
  {
    const FitCheckpointFile first(scratch / "checkpoint", "key", {});
    expect_error(ErrorKind::kUsage, "no other fit uses", [&] { FitCheckpointFile(scratch / "checkpoint", "key", {}); });
    EXPECT_NO_THROW(FitCheckpointFile(scratch / "another", "key", {}));
  }
  EXPECT_NO_THROW(FitCheckpointFile(scratch / "checkpoint", "key", {}));
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(FitCheckpointFile, ATrainingThatDivergesCanBeReadAgain) {
  const ScratchFolder scratch;
  std::vector<float> state(3, 1.5F);
  const std::vector<KeptNumbers> kept = {{state, 0, 3}};
  {
    FitCheckpointFile log(scratch / "checkpoint", "key", {});
    log.keep_state({7, std::numeric_limits<double>::infinity(), 2.0}, kept);
  }
  FitCheckpointFile log(scratch / "checkpoint", "key", {});
  state.assign(3, 0.0F);
  const auto found = log.find_state(kept);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->steps, 7U);
  EXPECT_FALSE(std::isfinite(found->loss));
  EXPECT_EQ(state, std::vector<float>(3, 1.5F));
}

TEST(FitCheckpointFile, HeadsThatAKillLeftBehindAreRemovedToo) {
  const ScratchFolder scratch;
  std::vector<float> head(2, 1.0F);
  const std::vector<KeptNumbers> kept = {{head, 0, 2}};
  FitCheckpointFile log(scratch / "checkpoint", "key", {});
  log.keep_training({1, 0.5, 1.0}, false, kept);
  std::filesystem::copy_file(scratch / "checkpoint.head-0", scratch / "copy");
  log.keep_training({1, 0.25, 1.0}, true, kept);
  EXPECT_FALSE(std::filesystem::exists(scratch / "checkpoint.head-0"));
  std::filesystem::rename(scratch / "copy", scratch / "checkpoint.head-0");  // as if the kill had come before its end
  log.remove();
  EXPECT_EQ(scratch.files(), 1U) << "only the lock, which goes with the log";
}

TEST(FitCheckpointFile, OtherNumbersOfProcessesContinue) {
  const ScratchFolder scratch;
  const FitResult whole = fit_head(small_rows(), short_recipe());
  struct Start {
    std::size_t ranks;
    std::size_t blocks;
  };
  const Start starts[] = {{2, 2}, {3, 1}, {1, 1}, {4, 2}, {3, 3}};
  bool done = false;
  std::size_t ended = 0;
  std::uint64_t found_before = 0;
  for (std::size_t i = 0; !done; ++i) {
    const Start& start = starts[i % std::size(starts)];
    std::uint64_t found = 0;
    const auto body = [&](Communicator& communicator) {
      const ParallelLayout fraction(communicator, start.blocks, 7);
      FitCheckpointFile log(scratch / "checkpoint", "key", {0.0, &communicator, fraction.same_block().rank() == 0});
      Recipe recipe = short_recipe();
      set_layout(recipe, &fraction);
      set_checkpoint(recipe, &log);
      std::size_t calls = 7;
      const FitResult result =
          fit_head(small_rows(), recipe, [&](const Progress&) { return communicator.rank() != 0 || calls-- > 0; });
      if (communicator.rank() != 0) {
        collect_head(fraction, result.head.clone());
        return;
      }
      found = log.steps_found();
      const Head<float> head = collect_head(fraction, result.head.clone());
      EXPECT_NEAR(result.epsilon, whole.epsilon, 0.01 * whole.epsilon);
      double differences = 0.0;
      double squares = 0.0;
      for (std::size_t j = 0; j < head.classes() * head.dimension(); ++j) {
        const auto value = static_cast<double>(whole.head.direction.data()[j]);
        squares += value * value;
        differences += std::pow(static_cast<double>(head.direction.data()[j]) - value, 2.0);
      }
      EXPECT_LT(std::sqrt(differences / squares), 0.01);
      log.remove();
      done = true;
    };
    try {
      run_processes(start.ranks, body);
      EXPECT_GT(found, found_before);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kCancelled);
      ASSERT_LT(++ended, 200U);
    }
  }
  EXPECT_GT(ended, 4U);
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(FitCheckpointFile, RejectsOtherFitsAndDamage) {
  const ScratchFolder scratch;
  const auto file = scratch / "checkpoint";
  std::uint64_t found = 0;
  EXPECT_THROW(fit_until(file, 40, found), Error);
  expect_error(ErrorKind::kInput, "other data or options", [&] { FitCheckpointFile(file, "another key", {}); });
  const std::string text = content_of(file);
  scratch.write("cut", text.substr(0, text.size() / 2));
  expect_error(ErrorKind::kFormat, "damaged", [&] { FitCheckpointFile(scratch / "cut", "key", {}); });
  scratch.write("empty", "");
  expect_error(ErrorKind::kFormat, "empty", [&] { FitCheckpointFile(scratch / "empty", "key", {}); });
  // The numbers beside it cut short.
  for (const char* name : {"checkpoint.state-0", "checkpoint.state-1"}) {
    if (std::filesystem::exists(scratch / name)) std::filesystem::resize_file(scratch / name, 100);
  }
  expect_error(ErrorKind::kFormat, "found 100", [&] { fit_until(file, 1000000, found); });
}

}  // namespace
}  // namespace annulus
