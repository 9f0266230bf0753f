// fit by several processes that mpirun starts, and fits that are killed and go on.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "annulus/store/models/model_file.h"
#include "annulus/task/few_shot_task.h"
#include "tests/fixtures/accuracy.h"
#include "tests/fixtures/program.h"
#include "tests/fixtures/rank.h"

namespace annulus {
namespace {

constexpr SyntheticOptions kManyRows{.classes = 30, .train_rows = 8, .test_rows = 30, .dimension = 32, .noise = 0.9};

constexpr int kTries = 5;  // to kill a fit before it ends

// Waits until one of the two is there.
bool appears(const std::string& file, const std::string& other) {
  const auto there = [&] { return std::filesystem::exists(file) || std::filesystem::exists(other); };
  for (int i = 0; i < 12000 && !there(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return there();
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

// Kills the fit once it has reached a state; where it was done before, it begins again.
void kill_fit_at(const Scratch& scratch, const std::string& features, const std::string& reached) {
  const std::string model = scratch / "model.st";
  for (int i = 0; i < kTries; ++i) {
    Child child(scratch, annulus_command(long_fit(scratch, features, "model.st", "0")));
    const bool appeared = appears(scratch / reached, model);
    child.signal(SIGKILL);
    const int code = child.wait().exit_code;
    ASSERT_TRUE(appeared);
    if (!std::filesystem::remove(model)) {
      EXPECT_EQ(code, 128 + SIGKILL);
      return;
    }
  }
  FAIL() << "the fit ended before it could be killed at " << reached;
}

TEST(Checkpoint, AKilledFitGoesOnToTheSameFile) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch, kManyRows);
  ASSERT_EQ(run_annulus(scratch, long_fit(scratch, features, "whole.st", "30")).exit_code, 0);
  for (const char* reached : {"checkpoint.state-1", "checkpoint.head-0"}) {
    ASSERT_NO_FATAL_FAILURE(kill_fit_at(scratch, features, reached));
    EXPECT_TRUE(std::filesystem::exists(scratch / "checkpoint"));
  }
  const Outcome rejected = run_annulus(scratch, {"fit", features, "-o", scratch / "other.st", "--epsilon", "1.4",
                                                 "--checkpoint", scratch / "checkpoint"});
  expect_complaint(rejected, 3, "other data or options");
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
// In points, over the test examples.
double test_accuracy(const std::string& model, const std::string& features) {
  const FeatureSet set = read_features(features);
  return percent_right(read_model(model).head, gather(set, draw_split(set, {0, 0}).query));
}

TEST(SharedFit, GivesTheModelOfOneProcess) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch, kManyRows);
  // At a given radius sums in another order differ by rounding; a search compares counts with a target, and one
  // virtual example more or less moves the radius a little.
  struct Case {
    std::string option;
    std::string value;
    double tolerance;
    double points;
  };
  const std::vector<Case> cases{{"--epsilon", "0.7", 0.002, 0.12}, {"--search-epochs", "5", 0.03, 0.5}};
  for (std::size_t i = 0; i < 2 * cases.size(); ++i) {
    const Case& with = cases[i / 2];
    const char* const blocks = i % 2 == 0 ? "1" : "2";
    const auto arguments = [&](const std::string& model, const std::string& ranks) {
      return annulus_command({"fit", features, "-o", scratch / model, "--virtual", "8", "--epochs", "30", "--threads",
                              "1", with.option, with.value, "--class-ranks", ranks});
    };
    ASSERT_EQ(Child(scratch, arguments("alone.st", "0")).wait().exit_code, 0);
    const Model alone = read_model(scratch / "alone.st");
    const double accuracy = test_accuracy(scratch / "alone.st", features);
    const Outcome outcome = Child(scratch, mpirun(2, arguments("shared.st", blocks))).wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 4) << "one process speaks: " << outcome.out;
    const Model shared = read_model(scratch / "shared.st");
    EXPECT_EQ(shared.head.classes(), 30U);
    EXPECT_NEAR(shared.epsilon, alone.epsilon, with.tolerance * alone.epsilon);
    EXPECT_NEAR(shared.temperature, alone.temperature, with.tolerance * alone.temperature);
    EXPECT_NEAR(test_accuracy(scratch / "shared.st", features), accuracy, with.points);
    std::filesystem::remove(scratch / "alone.st");
    std::filesystem::remove(scratch / "shared.st");
  }
}

TEST(SharedFit, AKilledRankEndsTheJobAndOneProcessGoesOn) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch, kManyRows);
  ASSERT_EQ(run_annulus(scratch, long_fit(scratch, features, "whole.st", "30")).exit_code, 0);
  const std::string model = scratch / "model.st";
  const auto fit = annulus_command(long_fit(scratch, features, "model.st", "0"));
  bool ended = false;
  for (int i = 0; i < kTries && !ended; ++i) {
    Child child(scratch, mpirun(2, with_numbers(scratch / "process", fit)));
    const bool appeared = appears(scratch / "checkpoint.state-1", model);
    kill_rank(scratch / "process", 1);
    const int code = child.wait().exit_code;
    ASSERT_TRUE(appeared);
    ended = !std::filesystem::remove(model);  // else it was done before the kill
    if (ended) {
      EXPECT_NE(code, 0);
    }
  }
  ASSERT_TRUE(ended);
  ASSERT_TRUE(std::filesystem::exists(scratch / "checkpoint"));
  const Outcome outcome = run_annulus(scratch, long_fit(scratch, features, "model.st", "30"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  // The moment of the kill decides the order of sums: single rows may fall on either side.
  EXPECT_NEAR(test_accuracy(model, features), test_accuracy(scratch / "whole.st", features), 0.5);
  expect_no_checkpoint(scratch);
}

TEST(SharedFit, WhenTheFirstCannotWriteTheOthersEnd) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto fit = annulus_command(quickly({"fit", features, "-o", scratch / "nowhere/model.st", "-q"}));
  const Outcome outcome = Child(scratch, mpirun(2, fit)).wait();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("annulus: " + (scratch / "nowhere")), std::string::npos) << outcome.err;
}

TEST(SharedFit, AProcessWithoutDataEndsThoseThatWaitForIt) {
  const Scratch scratch;
  write_small_features(scratch, small_data(), "features-0.safetensors");
  const auto fit = annulus_command(quickly({"fit", "-o", scratch / "model.st", "-q"}));
  std::vector<std::string> command{"sh", "-c",
                                   "exec \"$0\" \"$@\" " + (scratch / "features-$OMPI_COMM_WORLD_RANK.safetensors")};
  command.insert(command.end(), fit.begin(), fit.end());
  // Told to go on, the launcher leaves the first one waiting for the second: only that one can end it.
  const Outcome outcome = Child(scratch, mpirun(2, command, {"--enable-recovery"})).wait();
  EXPECT_NE(outcome.err.find("features-1.safetensors"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "model.st"));
}

#endif

}  // namespace
}  // namespace annulus
