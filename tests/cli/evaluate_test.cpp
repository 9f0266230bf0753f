// evaluate and demo: the many-way protocol from the command line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Without what differs from run to run: times, threads and the command.
nlohmann::json without_seconds(nlohmann::json report) {
  for (const char* name : {"time", "threads", "command"}) report["metadata"].erase(name);
  for (auto& result : report["results"]) {
    for (auto& run : result["runs"]) run.erase("seconds");
  }
  return report;
}

TEST(Evaluate, JsonHasTheShapePromisedAndTheTableItsNumbers) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome outcome = run_annulus(scratch, quickly({"evaluate", features, "--shots", "1,3", "--subsets", "2",
                                                        "--methods", "baseline,ibm2", "--json", scratch / "r.json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(read_text(scratch / "r.json"));
  EXPECT_EQ(json["protocol"], "many-way");
  ASSERT_EQ(json["results"].size(), 4U);
  for (const auto& result : json["results"]) {
    for (const char* field : {"method", "shots", "accuracy_mean", "accuracy_std", "runs"}) {
      EXPECT_TRUE(result.contains(field)) << field;
    }
    ASSERT_EQ(result["runs"].size(), 2U);
    for (const char* field : {"seed", "accuracy", "epsilon", "seconds"}) {
      EXPECT_TRUE(result["runs"][1][field].is_number()) << field;
    }
    const double a = result["runs"][0]["accuracy"];
    const double b = result["runs"][1]["accuracy"];
    EXPECT_NEAR(result["accuracy_mean"].get<double>(), (a + b) / 2.0, 1e-9);
    EXPECT_NEAR(result["accuracy_std"].get<double>(), std::abs(a - b) / std::sqrt(2.0), 1e-9);
    const std::string cell =
        fmt::format("{:.2f} ± {:>5.2f}", result["accuracy_mean"].get<double>(), result["accuracy_std"].get<double>());
    EXPECT_NE(outcome.out.find(cell), std::string::npos) << cell << "\n" << outcome.out;
  }
  EXPECT_EQ(json["results"][0]["method"], "baseline");
  EXPECT_EQ(json["results"][0]["runs"][0]["epsilon"], 0.0);
  EXPECT_GT(json["results"][1]["runs"][0]["epsilon"], 0.0);
}

TEST(Evaluate, ComparesSevenMethodsAtOneAndFiveShotsByDefault) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome outcome = run_annulus(scratch, quickly({"evaluate", features, "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["results"].size(), 14U);
  EXPECT_EQ(json["results"][0]["method"], "ncm");
  EXPECT_EQ(json["results"][13]["method"], "default");
  EXPECT_EQ(json["results"][13]["shots"], 5);
  EXPECT_EQ(json["results"][13]["runs"].size(), 3U);
  EXPECT_EQ(json["results"][13]["runs"][2]["seed"], 2);
}

TEST(Evaluate, SameSeedSameResultWhateverTheThreads) {
  const Scratch scratch;
  SyntheticOptions data = small_data();
  data.noise = 2.0;  // hard enough that splits differ
  const std::string features = write_small_features(scratch, data);
  const auto evaluate = [&](const char* threads, const char* seed) {
    const Outcome outcome =
        run_annulus(scratch, quickly({"evaluate", features, "--threads", threads, "--seed", seed, "--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return without_seconds(nlohmann::json::parse(outcome.out));
  };
  const auto one = evaluate("1", "9");
  EXPECT_EQ(one.dump(), evaluate("2", "9").dump());
  EXPECT_NE(one["results"][0]["accuracy_mean"], evaluate("1", "30")["results"][0]["accuracy_mean"]);
}

TEST(Evaluate, TwoFilesGiveWhatOneFileWithMarkedRowsGives) {
  const Scratch scratch;
  const SyntheticOptions data = small_data();
  const FeatureSet whole = make_synthetic(data);
  std::vector<std::vector<std::uint32_t>> rows(2);
  for (std::uint32_t i = 0; i < whole.rows(); ++i) rows[whole.is_train()[i] != 0 ? 0 : 1].push_back(i);
  const char* names[] = {"train.npz", "test.npz"};
  for (std::size_t part = 0; part < 2; ++part) {
    Matrix<float> features(rows[part].size(), whole.dimension());
    whole.copy_rows(rows[part], features.view());
    FeatureSetParts parts = parts_of(std::move(features));
    parts.labels = whole.labels_of(rows[part]);
    parts.class_names.assign(whole.class_names().begin(), whole.class_names().end());
    write_features(FeatureSet(std::move(parts)), scratch / names[part]);
  }
  const std::string features = write_small_features(scratch, data);
  const Outcome one = run_annulus(scratch, quickly({"evaluate", features, "--shots", "2,all", "--json"}));
  const Outcome two = run_annulus(scratch, quickly({"evaluate", "--train", scratch / "train.npz", "--test",
                                                    scratch / "test.npz", "--shots", "2,0", "--json"}));
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(without_seconds(nlohmann::json::parse(one.out))["results"].dump(),
            without_seconds(nlohmann::json::parse(two.out))["results"].dump());
  EXPECT_EQ(nlohmann::json::parse(two.out)["results"][7]["runs"][0]["support_examples"], 36);
}

TEST(Evaluate, CsvHasOneLineARun) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome outcome =
      run_annulus(scratch, {"evaluate", features, "--methods", "ncm", "--shots", "1", "--csv", "-", "--seed", "3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(
      outcome.out.starts_with("method,shots,seed,accuracy,top5,macro,ece,epsilon,seconds,transductive\nncm,1,3,"))
      << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 4);
}

TEST(Evaluate, TransductiveMethodsAreMarkedAndSeeQueriesOfTheBalanceAskedFor) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::vector<std::string> command{"evaluate",        features,      "--shots",   "2",
                                         "--subsets",       "2",           "--methods", "ncm,bd-cspn",
                                         "--query-balance", "dirichlet:1", "--json",    scratch / "r.json"};
  const Outcome outcome = run_annulus(scratch, command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("test examples (dirichlet:1), 2 splits"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("bd-cspn (transductive)"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(read_text(scratch / "r.json"));
  EXPECT_EQ(json["query_balance"], "dirichlet:1");
  EXPECT_EQ(json["results"][0]["transductive"], false);
  EXPECT_EQ(json["results"][1]["transductive"], true);
  EXPECT_EQ(json["metadata"]["chosen_on"]["bd-cspn"],
            "nothing is chosen, but all test examples, without labels, are learnt from");

  const Outcome wrong = run_annulus(scratch, {"episodes", features, "--query-balance", "even"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("expected --query-balance to be balanced or dirichlet:A"), std::string::npos) << wrong.err;
}

TEST(Episodes, TransductiveMethodsAreMarked) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const Outcome outcome = run_annulus(
      scratch, {"episodes", features, "--episodes", "6", "--seeds", "1", "--queries", "4", "--shots", "1", "--methods",
                "ncm,pt-map", "--query-balance", "dirichlet:0.5", "--json", scratch / "e.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("4 queries per class on average (dirichlet:0.5)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("pt-map (transductive)"), std::string::npos) << outcome.out;
  const auto json = nlohmann::json::parse(read_text(scratch / "e.json"));
  EXPECT_EQ(json["query_balance"], "dirichlet:0.5");
  EXPECT_EQ(json["results"][1]["transductive"], true);
  const Outcome report = run_annulus(scratch, {"report", scratch / "e.json", "-o", scratch / "report"});
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const std::string page = read_text(scratch / "report/report.html");
  EXPECT_NE(page.find("pt-map (transductive)"), std::string::npos);
  EXPECT_NE(page.find("Dirichlet distribution with concentration 0.5"), std::string::npos);
  EXPECT_EQ(page.find(">pt-map<"), std::string::npos) << "nowhere without its mark";
}

TEST(Demo, WritesFeaturesAndAModelThatWorkTogether) {
  const Scratch scratch;
  const std::string features = scratch / "f.safetensors";
  const std::string model = scratch / "m.safetensors";
  const Outcome demo = run_annulus(scratch, {"demo-generated", "--ways", "8", "--dimension", "16", "--features",
                                             features, "-o", model, "--json", scratch / "demo.json"});
  ASSERT_EQ(demo.exit_code, 0) << demo.err;
  EXPECT_NE(demo.out.find("ibm2"), std::string::npos);
  EXPECT_NE(demo.out.find("a row of class-004:"), std::string::npos) << demo.out;
  const auto json = nlohmann::json::parse(read_text(scratch / "demo.json"));
  EXPECT_EQ(json["results"].size(), 10U);
  EXPECT_EQ(json["ways"], 8);
  const Outcome predict = run_annulus(scratch, {"predict", model, features, "--format", "jsonl"});
  EXPECT_EQ(predict.exit_code, 0) << predict.err;
  EXPECT_EQ(parse_json_lines(predict.out).size(), 320U);
}

TEST(Evaluate, BaseClassesComeFromAFileOfTheirOwn) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  SyntheticOptions other = small_data();
  other.seed = 5;
  write_features(make_synthetic(other), scratch / "base.safetensors");
  const Outcome without = run_annulus(scratch, {"evaluate", features, "--methods", "dc"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("expected --base, the features of other classes, for the method dc, found none"),
            std::string::npos);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"evaluate", features, "--subsets", "1"},
        std::vector<std::string>{"episodes", features, "--episodes", "3", "--seeds", "1", "--queries", "4"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(),
                 {"--shots", "2", "--methods", "ncm,dc", "--base", scratch / "base.safetensors", "--json"});
    const Outcome outcome = run_annulus(scratch, words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["results"][1]["method"], "dc");
    EXPECT_NE(json.dump().find("base.safetensors"), std::string::npos) << "the report says where the base came from";
  }
}

TEST(Evaluate, DrawsThatWereWrittenGiveTheSameResult) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto evaluate = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"evaluate", features, "--methods", "ncm,baseline", "--json"});
    const Outcome outcome = run_annulus(scratch, quickly(words));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return without_seconds(nlohmann::json::parse(outcome.out));
  };
  const auto drawn = evaluate({"--shots", "1,2", "--subsets", "2", "--write-splits", scratch / "splits.json"});
  const auto fixed = evaluate({"--splits", scratch / "splits.json"});
  EXPECT_EQ(fixed["results"].dump(), drawn["results"].dump());
  EXPECT_EQ(fixed["metadata"]["checksums"].dump(), drawn["metadata"]["checksums"].dump());
}

TEST(Evaluate, LearnsFromListsOfRows) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const FeatureSet set = make_synthetic(small_data());
  std::string lines = "# two rows of the first class, one of each other\n";
  std::vector<std::size_t> taken(set.classes(), 0);
  for (std::size_t i = 0; i < set.rows(); ++i) {
    const auto label = static_cast<std::size_t>(set.labels()[i]);
    if (set.is_train()[i] == 0 || taken[label] >= (label == 0 ? 2U : 1U)) continue;
    ++taken[label];
    lines += fmt::format("{}\n", i);
  }
  write_text(scratch / "list.txt", lines);
  const Outcome outcome =
      run_annulus(scratch, {"evaluate", features, "--methods", "ncm", "--lists", scratch / "list.txt", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["results"][0]["runs"][0]["support_examples"], set.classes() + 1);
  EXPECT_EQ(json["results"][0]["shots"], 0);
  write_text(scratch / "short.txt", "0\n");
  const Outcome rejected = run_annulus(scratch, {"evaluate", features, "--lists", scratch / "short.txt"});
  EXPECT_EQ(rejected.exit_code, 3);
  EXPECT_NE(rejected.err.find("training examples of every class"), std::string::npos) << rejected.err;
}

TEST(Evaluate, ResumesWithoutDoingAnythingTwice) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const auto evaluate = [&](const char* methods) {
    const Outcome outcome = run_annulus(scratch, quickly({"evaluate", features, "--methods", methods, "--shots", "1",
                                                          "--subsets", "2", "--resume", scratch / "cells", "--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const auto first = evaluate("baseline");
  const std::string kept = read_text(scratch / "cells");
  // What a kill in the middle of the second run leaves behind.
  write_text(scratch / "cells", kept.substr(0, kept.size() - 20));
  const auto again = evaluate("baseline,ncm");
  // The run that was whole kept even its time; the other was done anew with the same answer.
  EXPECT_EQ(again["results"][0]["runs"][0].dump(), first["results"][0]["runs"][0].dump());
  EXPECT_EQ(again["results"][0]["runs"][1]["accuracy"], first["results"][0]["runs"][1]["accuracy"]);
  const std::string text = read_text(scratch / "cells");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

}  // namespace
}  // namespace annulus
