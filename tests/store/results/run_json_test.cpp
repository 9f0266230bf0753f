// Runs that a file keeps come back as they were; other text is rejected.
#include "annulus/store/results/run_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TEST(RunJson, ARunComesBackToTheLastBit) {
  ManyWayRun run;
  run.seed = 7;
  run.accuracy = 100.0 / 3.0;
  run.epsilon = 2.1;
  run.seconds = 0.125;
  run.support_examples = 3;
  run.query_examples = 9;
  run.metrics.accuracy = run.accuracy;
  run.metrics.macro = 1.0 / 7.0;
  run.metrics.ece = 0.1;
  run.metrics.recall = {1.0 / 3.0, std::nan("")};
  run.metrics.confusions = {{1, 0, 4, 99}};
  run.metrics.confidence = {{0.3, 1, 2}};
  run.search = SearchResult{};
  run.search->target = 0.95;
  run.search->probes.push_back({2.5, 0.97, true, 2.5, 5.0, 0.1});
  const std::string text = run_to_json(run);
  const ManyWayRun back = run_from_json(text);
  EXPECT_EQ(run_to_json(back), text);
  EXPECT_EQ(back.accuracy, run.accuracy);
  EXPECT_EQ(back.metrics.recall[0], run.metrics.recall[0]);
  EXPECT_TRUE(std::isnan(back.metrics.recall[1]));
  EXPECT_FALSE(back.metrics.top5);
  EXPECT_EQ(back.search->probes.at(0).epsilon, 2.5);
  expect_error(ErrorKind::kFormat, "expected a cached run", [] { run_from_json("{}"); });
}

TEST(RunJson, TheEpisodesOfASeedComeBackToTheLastBit) {
  const SeedScore score{{100.0 / 3.0, 50.0}, 1.0 / 7.0, {3, 0, 7}, {5, 5, 10}, 0.125};
  const std::string text = seed_to_json(score);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const SeedScore back = seed_from_json(text);
  EXPECT_EQ(back.accuracies, score.accuracies);
  EXPECT_EQ(back.epsilons, score.epsilons);
  EXPECT_EQ(back.correct, score.correct);
  EXPECT_EQ(back.rows, score.rows);
  EXPECT_EQ(back.seconds, score.seconds);
  expect_error(ErrorKind::kFormat, "expected the episodes of a seed", [] { seed_from_json("[]"); });
}

}  // namespace
}  // namespace annulus
