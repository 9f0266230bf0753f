// ablate: one part of the method varied, from the command line.
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

TEST(Ablate, PrintsATableAndWritesDocuments) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome outcome =
      run_annulus(scratch, quickly({"ablate", features, "--what", "schema", "--shots", "2", "--subsets", "2", "--json",
                                    scratch / "a.json", "--csv", scratch / "a.csv"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("ibm2, spherical"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("linear-svm"), std::string::npos) << "no strong method beside";
  const auto json = nlohmann::json::parse(read_text(scratch / "a.json"));
  EXPECT_EQ(json["ablation"], "schema");
  EXPECT_EQ(json["results"].size(), 6U);
  EXPECT_EQ(json["options"]["virtual"], "4");
  EXPECT_TRUE(read_text(scratch / "a.csv").starts_with("variant,shots,seed,accuracy,epsilon,seconds\n\"ncm\",2,0,"));
}

TEST(Ablate, ADocumentOfItMakesAReport) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome ablate = run_annulus(scratch, quickly({"ablate", features, "--what", "virtual", "--values", "2,4",
                                                       "--shots", "1,2", "--json", scratch / "a.json"}));
  ASSERT_EQ(ablate.exit_code, 0) << ablate.err;
  const Outcome report = run_annulus(scratch, {"report", scratch / "a.json", "-o", scratch / "page"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(read_text(scratch / "page/tables.md").find("ibm2, R 4"), std::string::npos);
}

TEST(Ablate, TheMetadataSaysThatRatesWereLookedAtOnTestLabels) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome outcome = run_annulus(scratch, quickly({"ablate", features, "--what", "lr", "--values", "0.01,0.1",
                                                        "--shots", "2", "--subsets", "1", "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["metadata"]["test_labels_used"], true);
  EXPECT_TRUE(json["metadata"]["checksums"].contains("features"));
}

TEST(Ablate, GoesOnWithFinishedCells) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto results = [&] {
    const Outcome outcome = run_annulus(scratch, quickly({"ablate", features, "--what", "schema", "--shots", "2",
                                                          "--subsets", "1", "--resume", scratch / "cells", "--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["results"].dump();
  };
  const std::string first = results();
  const auto size = std::filesystem::file_size(scratch / "cells");
  // The times of the runs are those of the first call, too: nothing was trained again.
  EXPECT_EQ(results(), first);
  EXPECT_EQ(std::filesystem::file_size(scratch / "cells"), size);
}

TEST(Ablate, RejectsWhatMakesNoSense) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  expect_complaint(run_annulus(scratch, {"ablate", features}), 2, "--what");
  expect_complaint(run_annulus(scratch, {"ablate", features, "--what", "virtual", "--values", "x", "-q"}), 2, "\"x\"");
  expect_complaint(run_annulus(scratch, {"ablate", features, "--what", "head", "--shots", "99", "-q"}), 3, "99");
  expect_complaint(run_annulus(scratch, {"ablate", features, "--what", "svm", "--beside", "dc", "-q"}), 2, "dc");
}

}  // namespace
}  // namespace annulus
