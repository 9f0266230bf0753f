// reproduce: the paper's tables from the command line, on stand-ins for the authors' files.
#include <filesystem>

#include "tests/cli/program.h"

namespace annulus {
namespace {

const std::string kTree = std::string(ANNULUS_TEST_DATA) + "/reproduce";

TEST(Reproduce, TableOneRunsThroughAndListsWhatIsMissing) {
  const Scratch scratch;
  const Outcome outcome =
      run_annulus(scratch, quickly({"reproduce", "table1", "--features", kTree, "--json", scratch / "t.json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("DINO/CUB/deit_small_p16               1  ibm2"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("36.2 ± 1.4"), std::string::npos);
  EXPECT_NE(outcome.out.find("CHOSEN ON THE TEST LABELS"), std::string::npos);
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << "colour on something that is no terminal";
  EXPECT_NE(outcome.out.find("BYOL/CUB/resnet50/features\n    train_1shot_0.pth"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(read_text(scratch / "t.json"));
  EXPECT_EQ(json["protocol"], "reproduce");
  EXPECT_EQ(json["stamp"]["test_labels_used"], true);
  // 5 pairs of features and shots, 2 methods, best and default.
  ASSERT_EQ(json["results"].size(), 20U);
  for (const auto& result : json["results"]) {
    EXPECT_NEAR(result["difference"].get<double>(),
                result["accuracy_mean"].get<double>() - result["paper_mean"].get<double>(), 1e-9);
    const bool far = std::abs(result["difference"].get<double>()) > result["allowance"].get<double>();
    EXPECT_EQ(result["outside"].get<bool>(), far);
  }
  EXPECT_EQ(json["missing"].size(), 11U);
  EXPECT_EQ(json["missing"][0]["files"].size(), 22U);
}

TEST(Reproduce, EveryTableRunsOnTheStandIns) {
  const Scratch scratch;
  for (const char* table : {"table2", "table4", "table6", "table7", "figure3"}) {
    const Outcome outcome =
        run_annulus(scratch, quickly({"reproduce", table, "--features", kTree, "--rates", "default"}));
    EXPECT_EQ(outcome.exit_code, 0) << table << outcome.err;
    EXPECT_EQ(outcome.out.find("CHOSEN ON THE TEST LABELS"), std::string::npos) << table;
  }
  const Outcome five =
      run_annulus(scratch, {"reproduce", "table5", "--features", kTree, "--rates", "default", "--shots", "1", "--runs",
                            "1", "--epochs", "2", "--search-epochs", "1", "--search-tolerance", "2"});
  EXPECT_NE(five.out.find("ibm2 R 400"), std::string::npos) << five.err;
  const Outcome three =
      run_annulus(scratch, quickly({"reproduce", "table3", "--features", kTree, "--episodes", "4", "--seeds", "1"}));
  EXPECT_NE(three.out.find("PMF/CIFAR-FS/vit_small_p16                  5  ibm2     paper         95.7"),
            std::string::npos)
      << three.out << three.err;
}

TEST(Reproduce, FigureThreePrintsTenBins) {
  const Scratch scratch;
  const Outcome outcome =
      run_annulus(scratch, quickly({"reproduce", "figure3", "--features", kTree, "--shots", "2", "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["gains"].size(), 1U);
  EXPECT_EQ(json["gains"][0]["bins"].size(), 10U);
  EXPECT_EQ(json["stamp"]["test_labels_used"], false);
}

TEST(Reproduce, ATruncatedFileEndsItLoudly) {
  const Scratch scratch;
  std::filesystem::copy(kTree + "/DINO", scratch / "DINO", std::filesystem::copy_options::recursive);
  const std::string file = scratch / "DINO/CUB/deit_small_p16/features/train_1shot_1.pth";
  std::filesystem::resize_file(file, 700);
  const Outcome outcome = run_annulus(
      scratch, quickly({"reproduce", "table1", "--features", scratch.folder().string(), "--only", "DINO/CUB", "-q"}));
  expect_complaint(outcome, 4, "train_1shot_1.pth: the pickle is broken");
}

TEST(Reproduce, NothingAtHandIsAnErrorWithTheList) {
  const Scratch scratch;
  const Outcome outcome = run_annulus(
      scratch, {"reproduce", "table1", "--features", scratch.folder().string(), "--only", "MSN/CUB", "--shots", "16"});
  expect_complaint(outcome, 3, "found none of the files that table1 needs");
  EXPECT_NE(
      outcome.out.find((scratch / "MSN/CUB/deit_large_p7/features") + "\n    train_16shot_0.pth train_16shot_1.pth "
                                                                      "train_16shot_2.pth test.pth\n"),
      std::string::npos)
      << outcome.out;
}

TEST(Reproduce, OwnFilesInOtherFormatsTakeTheAuthorsPlace) {
  const Scratch scratch;
  const std::string folder = scratch / "DINO/CUB/deit_small_p16/features";
  std::filesystem::create_directories(folder);
  const std::string theirs = kTree + "/DINO/CUB/deit_small_p16/features";
  write_features(read_features(theirs + "/test.pth"), folder + "/test.npz");
  write_features(read_features(theirs + "/train_1shot_0.pth"), folder + "/train_1shot_0.safetensors");
  const auto numbers = [&](const std::string& tree) {
    const Outcome outcome =
        run_annulus(scratch, quickly({"reproduce", "table1", "--features", tree, "--only", "DINO/CUB", "--shots", "1",
                                      "--runs", "1", "--rates", "best", "--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<double> values;
    const auto json = nlohmann::json::parse(outcome.out);
    for (const auto& result : json["results"]) values.push_back(result["accuracy_mean"]);
    return values;
  };
  EXPECT_EQ(numbers(scratch.folder().string()), numbers(kTree));
}

TEST(Reproduce, OptionsThatMakeNoSenseAreRefused) {
  const Scratch scratch;
  expect_complaint(run_annulus(scratch, {"reproduce", "table1"}), 2, "--features");
  expect_complaint(run_annulus(scratch, {"reproduce", "table9", "--features", kTree}), 2, "table9");
  expect_complaint(run_annulus(scratch, {"reproduce", "table2", "--features", kTree, "--shots", "5"}), 2, "--shots");
  expect_complaint(run_annulus(scratch, {"reproduce", "table5", "--features", kTree, "--virtual", "5"}), 2, "varies R");
  expect_complaint(run_annulus(scratch, {"reproduce", "table1", "--features", kTree, "--only", "CLIP"}), 2, "no row");
  expect_complaint(run_annulus(scratch, {"reproduce", "table1", "--features", scratch / "nowhere"}), 5, "nowhere");
}

TEST(Evaluate, ReadsTheAuthorsFiles) {
  const Scratch scratch;
  const std::string folder = kTree + "/DINO/CUB/deit_small_p16/features";
  const Outcome evaluate = run_annulus(scratch, quickly({"evaluate", "--train", folder + "/train_1shot_0.pth", "--test",
                                                         folder + "/test.pth", "--shots", "all", "--subsets", "1"}));
  EXPECT_EQ(evaluate.exit_code, 0) << evaluate.err;
  EXPECT_NE(evaluate.out.find("12-way, features of 8 numbers, 48 test rows"), std::string::npos) << evaluate.out;
  const Outcome fit =
      run_annulus(scratch, quickly({"fit", folder + "/train_2shot_0.pth", "-o", scratch / "m.safetensors"}));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
}

}  // namespace
}  // namespace annulus
