// Several processes of one launcher: they share the work, the first one speaks, and killed ones cost nothing but time.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/random.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/rank.h"

namespace annulus {
namespace {

// Without what differs from run to run.
nlohmann::json essence(const std::string& file) {
  auto report = nlohmann::json::parse(read_text(file));
  for (const char* name : {"time", "threads", "command"}) report["metadata"].erase(name);
  for (auto& result : report["results"]) {
    result.erase("seconds");
    if (!result.contains("runs")) continue;
    for (auto& run : result["runs"]) run.erase("seconds");
  }
  return report;
}

std::size_t lines_of(const std::string& file) {
  const std::string text = read_text(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<std::string> grid(const std::string& features, const std::string& json, const std::string& cells) {
  std::vector<std::string> arguments =
      quickly({"evaluate", features, "--shots", "1,3", "--subsets", "5", "--methods", "baseline,ibm2", "--json", json});
  if (!cells.empty()) arguments.insert(arguments.end(), {"--resume", cells});
  return arguments;
}
constexpr std::size_t kGridCells = 20;

TEST(Launch, RanksShareAGridAndTheFirstTellsWhatOneProcessWould) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  ASSERT_EQ(run_annulus(scratch, grid(features, scratch / "alone.json", "")).exit_code, 0);
  const auto arguments = grid(features, scratch / "shared.json", scratch / "cells");
  Rank first(0, 3, arguments);
  Rank second(1, 3, arguments);
  Rank third(2, 3, arguments);
  const Outcome told = first.wait();
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_NE(told.out.find("baseline"), std::string::npos);
  for (Rank* helper : {&second, &third}) {
    const Outcome outcome = helper->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
  }
  EXPECT_EQ(essence(scratch / "shared.json"), essence(scratch / "alone.json"));
  EXPECT_EQ(lines_of(scratch / "cells"), kGridCells);
}

TEST(Launch, KilledRanksLoseNothingAndDoubleNothing) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  ASSERT_EQ(run_annulus(scratch, grid(features, scratch / "alone.json", "")).exit_code, 0);
  const auto arguments = grid(features, scratch / "shared.json", scratch / "cells");
  const RandomStream moments{3, RandomUse::kSynthetic, 0};
  for (std::uint64_t round = 0; round < 12; ++round) {
    Rank first(0, 2, arguments);
    Rank second(1, 2, arguments);
    usleep(static_cast<useconds_t>(80000.0 * moments.uniform(round)));
    second.killed();
    first.killed();
  }
  Rank helper(1, 2, arguments);
  helper.killed();
  Rank last(0, 2, arguments);
  const Outcome told = last.wait();
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(essence(scratch / "shared.json"), essence(scratch / "alone.json"));
  EXPECT_EQ(lines_of(scratch / "cells"), kGridCells);
}

#ifdef ANNULUS_MPIRUN
TEST(Launch, WithRecoveryMpirunGoesOnWithoutARankThatWasKilled) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto longer = [&](const std::string& json, const std::string& cells) {
    std::vector<std::string> arguments = grid(features, scratch / json, cells);
    arguments.insert(arguments.end(), {"--epochs", "200", "--threads", "1", "-q"});
    return annulus_command(arguments);
  };
  ASSERT_EQ(Child(scratch, longer("alone.json", "")).wait().exit_code, 0);
  const std::string cells = scratch / "cells";
  const std::string place = scratch / "process";
  bool killed = false;
  for (int tries = 0; tries < 5 && !killed; ++tries) {
    for (const std::string& old : {cells, place + "-1", scratch / "shared.json"}) std::filesystem::remove(old);
    Child child(scratch, mpirun(3, with_numbers(place, longer("shared.json", cells)), {"--enable-recovery"}));
    // No rank ends before the last cell is there.
    while (lines_of(cells) < 3 && !std::filesystem::exists(scratch / "shared.json")) usleep(1000);
    killed = lines_of(cells) < kGridCells && kill_rank(place, 1);
    const Outcome told = child.wait();
    ASSERT_EQ(told.exit_code, 0) << told.err;
    EXPECT_EQ(essence(scratch / "shared.json"), essence(scratch / "alone.json"));
    EXPECT_EQ(lines_of(cells), kGridCells);
  }
  EXPECT_TRUE(killed) << "the grid was done before a rank could be killed";
}
#endif

TEST(Launch, RanksShareEpisodes) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto episodes = [&](const std::string& name) {
    return std::vector<std::string>{"episodes",   features,
                                    "--shots",    "1",
                                    "--episodes", "30",
                                    "--seeds",    "4",
                                    "--ways",     "3",
                                    "--methods",  "ncm,ridge",
                                    "--json",     scratch / name,
                                    "--queries",  "3",
                                    "--resume",   scratch / (name + ".runs")};
  };
  ASSERT_EQ(run_annulus(scratch, episodes("alone.json")).exit_code, 0);
  Rank first(0, 2, episodes("shared.json"));
  Rank second(1, 2, episodes("shared.json"));
  EXPECT_EQ(first.wait().exit_code, 0);
  EXPECT_EQ(second.wait().exit_code, 0);
  EXPECT_EQ(essence(scratch / "shared.json"), essence(scratch / "alone.json"));
  EXPECT_EQ(lines_of(scratch / "shared.json.runs"), 8U);
}

TEST(Launch, WithoutANameForTheJobAFileToShareIsAskedFor) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  Rank first(0, 2, grid(features, scratch / "r.json", ""));
  expect_complaint(first.wait(), 2, "--resume");
}

class SharedExtraction : public NeedsOnnxRuntime {};

TEST_F(SharedExtraction, AHelperLeavesTheCollectingOfRowsToTheFirst) {
  const Scratch scratch;
  const std::string data = ANNULUS_TEST_DATA;
  std::filesystem::create_directories(scratch / "images/one");
  for (const char* name : {"exif_1.jpg", "exif_2.jpg", "exif_3.jpg"}) {
    std::filesystem::copy(data + "/images/" + name, scratch / "images/one");
  }
  const std::vector<std::string> arguments{"extract",    scratch / "images",
                                           "-o",         scratch / "features.safetensors",
                                           "--backbone", data + "/backbones/any_size.onnx",
                                           "--cache",    scratch / "cache",
                                           "-q",         "--preprocess",
                                           "unit"};
  const Outcome whole = run_annulus(scratch, arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  // All rows are known: who only helps has nothing to write, to no file.
  const auto code_without_writing = [&](const std::string& rank) {
    std::vector<std::string> words{
        "sh", "-c", "ulimit -f 0; exec \"$0\" \"$@\"", "env", "OMPI_COMM_WORLD_RANK=" + rank, "OMPI_COMM_WORLD_SIZE=2"};
    const auto command = annulus_command(arguments);
    words.insert(words.end(), command.begin(), command.end());
    return Child(scratch, words).wait().exit_code;
  };
  EXPECT_NE(code_without_writing("0"), 0);
  EXPECT_EQ(code_without_writing("1"), 0);
}

TEST(Launch, OtherSubcommandsAreDoneByTheFirstAlone) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "model.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", features, "-o", model})).exit_code, 0);
  const std::vector<std::string> arguments{"predict", model, features, "-o", scratch / "predictions.csv"};
  EXPECT_EQ(Rank(1, 2, arguments).wait().exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch / "predictions.csv"));
  EXPECT_EQ(Rank(0, 2, arguments).wait().exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(scratch / "predictions.csv"));
}

}  // namespace
}  // namespace annulus
