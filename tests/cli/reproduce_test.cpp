// reproduce: the paper's tables from the command line, on stand-ins for the authors' files.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "tests/fixtures/dataset_trees.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

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
  EXPECT_EQ(json["metadata"]["test_labels_used"], true);
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
  EXPECT_EQ(json["metadata"]["test_labels_used"], false);
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

TEST(Reproduce, OptionsThatMakeNoSenseAreRejected) {
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
  EXPECT_NE(evaluate.out.find("12-way, features of 8 dimensions, 48 test examples"), std::string::npos) << evaluate.out;
  const Outcome fit =
      run_annulus(scratch, quickly({"fit", folder + "/train_2shot_0.pth", "-o", scratch / "m.safetensors"}));
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
}

// Small trees of images in the place of the paper's data sets, and a small network in the place of its networks.
class ReproduceImages : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    // A cache of its own; the runtime stays where it is.
    change("ANNULUS_ONNXRUNTIME", onnxruntime().library);
    change("ANNULUS_CACHE", scratch_ / "cache");
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  void change(const std::string& name, const std::string& value) {
    const char* const old = std::getenv(name.c_str());
    before_[name] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  Outcome run(const std::vector<std::string>& options) {
    std::vector<std::string> command{"reproduce"};
    command.insert(command.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("--images"), scratch_ / "data", std::string("--backbone"),
                                    std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx", std::string("--rates"),
                                    std::string("default")}) {
      command.push_back(word);
    }
    return run_annulus(scratch_, quickly(command));
  }

  const Scratch scratch_;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(ReproduceImages, TableOneFromPhotosInOneCommand) {
  make_cub(scratch_ / "data/CUB_200_2011", 4, 3);
  const std::vector<std::string> options{"table1", "--only", "DINO/CUB",         "--shots",
                                         "1,2",    "--json", scratch_ / "t.json"};
  const Outcome first = run(options);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("features are made in " + (scratch_ / "cache/reproduce/")), std::string::npos) << first.err;
  EXPECT_NE(first.out.find("DINO/CUB/deit_small_p16               1  ibm2"), std::string::npos) << first.out;
  const auto json = nlohmann::json::parse(read_text(scratch_ / "t.json"));
  EXPECT_EQ(json["results"].size(), 4U);
  EXPECT_TRUE(json["missing"].empty());
  // The second time everything is there.
  std::filesystem::remove_all(scratch_ / "data");
  const Outcome second = run(options);
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
}

TEST_F(ReproduceImages, TheOtherLayoutsReachTheirTables) {
  make_imagenet(scratch_ / "data/imagenet", 3, 2);
  make_mini_imagenet(scratch_ / "data/mini-imagenet", 5, 20);
  make_cifar_fs(scratch_ / "data/cifar-fs", 5, 20);
  const Outcome two = run({"table2", "--only", "DINO/Imagenet_1pt/deit_small_p16", "--features", scratch_ / "made"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_NE(two.out.find("DINO/Imagenet_1pt/deit_small_p16"), std::string::npos) << two.out;
  EXPECT_TRUE(
      std::filesystem::exists(scratch_ / "made/DINO/Imagenet_1pt/deit_small_p16/features/train_1pt.safetensors"));
  for (const char* row : {"S2M2_R/mini-ImageNet", "PMF/CIFAR-FS/vit_small_p16"}) {
    const Outcome three = run({"table3", "--only", row, "--episodes", "4", "--seeds", "1"});
    EXPECT_EQ(three.exit_code, 0) << three.err;
    EXPECT_NE(three.out.find(row), std::string::npos) << three.out;
  }
}

TEST_F(ReproduceImages, WhatIsNotThereIsSaid) {
  std::filesystem::create_directories(scratch_ / "data");
  const Outcome outcome = run({"table1", "--only", "DINO/CUB"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("CUB is not in "), std::string::npos) << outcome.err;
  expect_complaint(run_annulus(scratch_, {"reproduce", "table1"}), 2, "table1 expects --features DIR or --images DIR");
  expect_complaint(run_annulus(scratch_, {"reproduce", "table1", "--images", scratch_ / "data", "--network", "DINO=x"}),
                   2, "expected --network METHOD/ARCH=NAME");
  expect_complaint(run_annulus(scratch_, {"reproduce", "table1", "--features", kTree, "--backbone", "resnet50"}), 2,
                   "a network is of use with --images DIR");
}

}  // namespace
}  // namespace annulus
