// fit by several processes that mpirun starts, and fits that are killed and go on.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "annulus/store/model_file.h"
#include "annulus/task/few_shot_task.h"
#include "tests/cli/program.h"
#include "tests/cli/rank.h"
#include "tests/learn/accuracy.h"

namespace annulus {
namespace {

constexpr SyntheticOptions kManyRows{.classes = 30, .train_rows = 8, .test_rows = 30, .dimension = 32, .noise = 0.9};

bool appears(const std::string& file) {
  for (int i = 0; i < 12000 && !std::filesystem::exists(file); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return std::filesystem::exists(file);
}

void expect_no_checkpoint(const Scratch& scratch) {
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("checkpoint")) << entry.path();
  }
}

std::vector<std::string> long_fit(const Scratch& scratch, const std::string& features, const std::string& model,
                                  const std::string& seconds) {
  return {"fit",
          features,
          "-o",
          scratch / model,
          "--epsilon",
          "1.5",
          "--virtual",
          "8",
          "--epochs",
          "40",
          "--batch",
          "32",
          "--checkpoint",
          scratch / "checkpoint",
          "--checkpoint-seconds",
          seconds};
}

TEST(Checkpoint, AKilledFitGoesOnToTheSameFile) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch, kManyRows);
  ASSERT_EQ(run_annulus(scratch, long_fit(scratch, features, "whole.st", "30")).exit_code, 0);
  for (const char* reached : {"checkpoint.state-1", "checkpoint.head-0"}) {
    Child child(scratch, annulus_command(long_fit(scratch, features, "model.st", "0")));
    EXPECT_TRUE(appears(scratch / reached));
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait().exit_code, 128 + SIGKILL);
    EXPECT_TRUE(std::filesystem::exists(scratch / "checkpoint"));
  }
  const Outcome refused = run_annulus(scratch, {"fit", features, "-o", scratch / "other.st", "--epsilon", "1.4",
                                                "--checkpoint", scratch / "checkpoint"});
  expect_complaint(refused, 3, "other data or options");
  ASSERT_EQ(run_annulus(scratch, long_fit(scratch, features, "model.st", "30")).exit_code, 0);
  EXPECT_EQ(read_text(scratch / "model.st"), read_text(scratch / "whole.st"));
  expect_no_checkpoint(scratch);
}

TEST(SharedFit, WithoutAnMpiLauncherSaysSo) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  Rank alone(0, 2, quickly({"fit", features, "-o", scratch / "model.safetensors"}));
  expect_complaint(alone.wait(), 2, "MPI");
}

#ifdef ANNULUS_MPIRUN
// In points, over the test rows.
double test_accuracy(const std::string& model, const std::string& features) {
  const FeatureSet set = read_features(features);
  return percent_right(read_model(model).head, gather(set, draw_split(set, {0, 0}).query));
}

std::vector<std::string> mpirun(std::size_t ranks, const std::vector<std::string>& command) {
  std::vector<std::string> words{
      "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", ANNULUS_MPIRUN, "--oversubscribe",
      "-n",  std::to_string(ranks)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

TEST(SharedFit, GivesTheModelOfOneProcess) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch, kManyRows);
  const auto arguments = [&](const std::string& model, const std::string& blocks) {
    return annulus_command({"fit", features, "-o", scratch / model, "--virtual", "8", "--epochs", "30", "--threads",
                            "1", "--search-epochs", "5", "--class-ranks", blocks});
  };
  ASSERT_EQ(Child(scratch, arguments("alone.st", "0")).wait().exit_code, 0);
  const Model alone = read_model(scratch / "alone.st");
  const double accuracy = test_accuracy(scratch / "alone.st", features);
  for (const char* blocks : {"1", "2"}) {
    const Outcome outcome = Child(scratch, mpirun(2, arguments("shared.st", blocks))).wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 5) << "one process speaks: " << outcome.out;
    const Model shared = read_model(scratch / "shared.st");
    EXPECT_EQ(shared.head.classes(), 30U);
    EXPECT_NEAR(shared.epsilon, alone.epsilon, 0.01 * alone.epsilon);
    EXPECT_NEAR(shared.temperature, alone.temperature, 0.01 * alone.temperature);
    EXPECT_NEAR(test_accuracy(scratch / "shared.st", features), accuracy, 0.05);
    std::filesystem::remove(scratch / "shared.st");
  }
}

TEST(SharedFit, AKilledRankEndsTheJobAndOneProcessGoesOn) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch, kManyRows);
  ASSERT_EQ(run_annulus(scratch, long_fit(scratch, features, "whole.st", "30")).exit_code, 0);
  // Each rank leaves the number of its process before it becomes the program.
  const std::string leave_number = "echo $$ > " + (scratch / "process-$OMPI_COMM_WORLD_RANK") + "; exec \"$0\" \"$@\"";
  std::vector<std::string> command{"sh", "-c", leave_number};
  const auto fit = annulus_command(long_fit(scratch, features, "model.st", "0"));
  command.insert(command.end(), fit.begin(), fit.end());
  Child child(scratch, mpirun(2, command));
  EXPECT_TRUE(appears(scratch / "checkpoint.state-1"));
  kill(static_cast<pid_t>(std::stol(read_text(scratch / "process-1"))), SIGKILL);
  EXPECT_NE(child.wait().exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch / "model.st"));
  ASSERT_TRUE(std::filesystem::exists(scratch / "checkpoint"));
  const Outcome outcome = run_annulus(scratch, long_fit(scratch, features, "model.st", "30"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NEAR(test_accuracy(scratch / "model.st", features), test_accuracy(scratch / "whole.st", features), 0.05);
  expect_no_checkpoint(scratch);
}

#endif

}  // namespace
}  // namespace annulus
