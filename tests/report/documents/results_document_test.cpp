// Results documents are read as written; whatever is not one is rejected with one sentence.
#include "annulus/report/documents/results_document.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "tests/fixtures/report_fixture.h"

namespace annulus {
namespace {

using nlohmann::json;

ResultsDocument only(const std::string& text) {
  std::vector<ResultsDocument> documents = parse_results(text, "file.json");
  EXPECT_EQ(documents.size(), 1U);
  return documents.front();
}

// The message of the rejection; empty when the text was accepted.
std::string rejection(const std::string& text) {
  try {
    parse_results(text, "file.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    return error.what();
  }
  return {};
}

json small() {
  return json::parse(R"({"protocol":"many-way","results":[{"method":"ncm","shots":1,"accuracy_mean":50}]})");
}

TEST(ResultsDocument, ReadsEveryKeyOfManyWay) {
  const ResultsDocument document = only(fixture("many_way.json"));
  EXPECT_EQ(document.protocol, ResultsProtocol::kManyWay);
  EXPECT_EQ(document.train_source, "data/birds.safetensors");
  EXPECT_EQ(document.ways, 40.0);
  EXPECT_EQ(document.options.at("recipe"), "default");
  EXPECT_EQ(document.classes.size(), 40U);
  ASSERT_EQ(document.results.size(), 12U);
  const MethodResult& ibm2 = document.results[7];
  EXPECT_EQ(ibm2.method, "ibm2");
  EXPECT_EQ(ibm2.shots, 5U);
  EXPECT_EQ(ibm2.runs.size(), 3U);
  EXPECT_NEAR(*ibm2.epsilon, 4.1, 1e-9);  // the mean over runs
  EXPECT_NEAR(*ibm2.seconds, 72.9, 1e-9);
  EXPECT_EQ(ibm2.class_interval, 2.75);
  ASSERT_EQ(ibm2.recall.size(), 40U);
  EXPECT_FALSE(ibm2.recall[7]);
  EXPECT_TRUE(ibm2.recall[8]);
  EXPECT_EQ(ibm2.confusions.size(), 20U);
  EXPECT_EQ(ibm2.confusions[0].example, "../images/jpeg_444.jpg");
  EXPECT_EQ(ibm2.calibration.size(), 15U);
  EXPECT_EQ(ibm2.search.target, 90.0);
  EXPECT_EQ(ibm2.search.probes.size(), 8U);
  EXPECT_TRUE(document.results[0].search.probes.empty());
  ASSERT_EQ(document.comparisons.size(), 6U);
  EXPECT_EQ(document.comparisons[0].p_value, 0.0004);
  ASSERT_TRUE(document.metadata);
  EXPECT_EQ(document.metadata->test_labels_used, false);
  ASSERT_EQ(document.metadata->checksums.size(), 4U);
  EXPECT_EQ(document.metadata->checksums[0].first, "features");
  EXPECT_EQ(document.metadata->checksums[3].first, "splits 3");
  EXPECT_EQ(document.metadata->threads, 2.0);
}

TEST(ResultsDocument, ReadsEveryKeyOfEpisodes) {
  const ResultsDocument document = only(fixture("episodes.json"));
  EXPECT_EQ(document.protocol, ResultsProtocol::kEpisodes);
  EXPECT_EQ(document.train_source, "data/novel.npz");
  EXPECT_EQ(document.episodes, 40.0);
  ASSERT_EQ(document.results.size(), 8U);
  const MethodResult& ibm2 = document.results[3];
  EXPECT_EQ(ibm2.learning_rate, 0.1);
  EXPECT_FALSE(document.results[0].learning_rate);
  ASSERT_EQ(ibm2.worst.size(), 5U);
  EXPECT_EQ(ibm2.worst[0].accuracy, *ibm2.worst_1);
  EXPECT_EQ(ibm2.worst[0].classes.size(), 5U);
  ASSERT_EQ(ibm2.accuracies.size(), 2U);
  EXPECT_EQ(ibm2.accuracies[1].size(), 40U);
  EXPECT_TRUE(document.comparisons.empty());
}

TEST(ResultsDocument, ASmallDocumentLeavesTheRestAbsent) {
  const ResultsDocument document = only(small().dump());
  EXPECT_FALSE(document.metadata);
  EXPECT_FALSE(document.ways);
  EXPECT_FALSE(document.results[0].spread);
  EXPECT_FALSE(document.results[0].seconds);
  EXPECT_TRUE(document.results[0].recall.empty());
}

TEST(ResultsDocument, NullIsAbsentForEveryKey) {
  for (const char* name : {"many_way.json", "episodes.json"}) {
    const json whole = json::parse(fixture(name));
    for (const auto& [key, value] : whole.items()) {
      if (key == "protocol" || key == "results") continue;
      json changed = whole;
      changed[key] = nullptr;
      EXPECT_EQ(rejection(changed.dump()), "") << key;
      changed.erase(key);
      EXPECT_EQ(rejection(changed.dump()), "") << key;
    }
    for (const auto& [key, value] : whole["results"][3].items()) {
      json changed = whole;
      changed["results"][3][key] = nullptr;
      const bool needed = key == "method" || key == "shots" || key == "accuracy_mean" || key == "acc_m";
      EXPECT_EQ(rejection(changed.dump()).empty(), !needed) << key;
    }
  }
}

TEST(ResultsDocument, AValueOfAnotherTypeIsRejectedWithItsPath) {
  for (const char* name : {"many_way.json", "episodes.json"}) {
    const json whole = json::parse(fixture(name));
    for (const auto& [key, value] : whole["results"][3].items()) {
      json changed = whole;
      changed["results"][3][key] = json::object({{"surprise", json::array({1})}});
      if (key == "search") changed["results"][3][key] = 3;
      EXPECT_NE(rejection(changed.dump()).find("file.json.results[3]." + key), std::string::npos) << key;
    }
  }
}

TEST(ResultsDocument, RejectsOtherDocuments) {
  for (const char* text : {"", "{", "nonsense", "[]", "7", "null", "\"many-way\"", "{\"protocol\": 3}", "\xff\xfe"}) {
    const std::string message = rejection(text);
    EXPECT_TRUE(message.starts_with("file.json")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_NE(rejection("{}").find("protocol"), std::string::npos);
  EXPECT_NE(rejection(R"({"protocol":"chess"})").find("chess"), std::string::npos);
  EXPECT_NE(rejection(R"({"protocol":"many-way"})").find("results"), std::string::npos);
  EXPECT_NE(rejection(R"({"protocol":"many-way","results":[]})").find("results"), std::string::npos);
  EXPECT_NE(rejection(R"({"documents":[]})").find("documents"), std::string::npos);
}

TEST(ResultsDocument, RejectsValuesOutOfRange) {
  for (const char* number : {"-1", "100.5", "1e300", "1e999"}) {
    const std::string text =
        std::string(R"({"protocol":"many-way","results":[{"method":"ncm","shots":1,"accuracy_mean":)") + number + "}]}";
    EXPECT_NE(rejection(text), "") << number;
  }
  json changed = small();
  changed["results"][0]["shots"] = -1;
  EXPECT_NE(rejection(changed.dump()), "");
  changed["results"][0]["shots"] = 1.5;
  EXPECT_NE(rejection(changed.dump()), "");
}

TEST(ResultsDocument, RejectsDeepAndLongTexts) {
  EXPECT_NE(rejection(std::string(100'000, '[')), "");
  EXPECT_NE(rejection(R"({"protocol":"many-way","deep":)" + std::string(1000, '[') + std::string(1000, ']') + "}"), "");
  EXPECT_NE(rejection(std::string(kLargestResultsText + 1, ' ')), "");
}

TEST(ResultsDocument, ATruncatedDocumentIsRejected) {
  const std::string whole = fixture("older.json");
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    EXPECT_NE(rejection(whole.substr(0, length)), "") << length;
  }
}

TEST(ResultsDocument, MergingKeepsEveryValueAndCanBeReadAgain) {
  const std::vector<std::string> texts{fixture("many_way.json"), fixture("older.json")};
  const std::string merged = merge_results(texts);
  const json documents = json::parse(merged)["documents"];
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0], json::parse(texts[0]));
  EXPECT_EQ(documents[1], json::parse(texts[1]));
  EXPECT_EQ(parse_results(merged, "merged").size(), 2U);
  EXPECT_EQ(merge_results(std::vector{merged}), merged);
}

}  // namespace
}  // namespace annulus
