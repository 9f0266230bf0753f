// Cells of the paper's tables measured on generated features: what is chosen on what, and what is marked.
#include "annulus/eval/protocols/reproduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "annulus/base/error.h"
#include "annulus/report/tables/reproduce_report.h"
#include "annulus/task/few_shot_task.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/quick_recipe.h"
#include "tests/fixtures/small_set.h"

namespace annulus {
namespace {

struct Data {
  std::vector<FeatureSet> training;
  FeatureSet test;
};

FeatureSet rows_of_set(const FeatureSet& set, std::span<const std::uint32_t> rows) {
  LabelledExamples gathered = gather(set, rows);
  FeatureSetParts parts = parts_of(std::move(gathered.features));
  parts.labels = std::move(gathered.labels);
  parts.class_names.assign(set.class_names().begin(), set.class_names().end());
  parts.source = "generated";
  return FeatureSet(std::move(parts));
}

// Two splits of two examples per class, and the test examples.
Data small_problem() {
  const FeatureSet whole = small_set();
  Data data;
  Split split;
  for (const std::uint64_t seed : {0U, 1U}) {
    split = draw_split(whole, {2, seed});
    data.training.push_back(rows_of_set(whole, split.support));
  }
  data.test = rows_of_set(whole, split.query);
  return data;
}

ReproduceOptions quick_options() {
  ReproduceOptions options;
  options.recipe = quick_recipe();
  set_epochs(options.recipe, 4);
  return options;
}

std::vector<PaperCell> cells_of(const char* table, std::size_t shots) {
  std::vector<PaperCell> cells = paper_table(table).cells;
  const PaperFeatures first = cells.front().features;
  std::erase_if(cells, [&](const PaperCell& cell) { return cell.shots != shots || !(cell.features == first); });
  return cells;
}

TEST(Reproduce, BestIsTheHighestOfTenRatesAndIsMarked) {
  const Data data = small_problem();
  const auto cells = cells_of("table1", 2);
  ASSERT_EQ(cells.size(), 2U);
  std::set<std::size_t> totals;
  std::size_t last = 0;
  const ProgressCallback progress = [&](const Progress& report) {
    totals.insert(report.total);
    last = std::max(last, report.done);
    return true;
  };
  const ReproduceOptions options = quick_options();
  RunCounter counter(progress, count_runs(cells, 2, options));
  const auto results = reproduce_cells(cells, data.training, data.test, options, counter);
  // The recipe's own rate of 0.1 is one of the ten: 2 methods, 2 splits, 10 rates.
  EXPECT_EQ(totals, std::set<std::size_t>{40});
  EXPECT_EQ(last, 39U);
  ASSERT_EQ(results.size(), 2U);
  for (const ReproducedCell& cell : results) {
    ASSERT_TRUE(cell.best && cell.standard);
    EXPECT_TRUE(cell.best->test_labels);
    EXPECT_FALSE(cell.standard->test_labels);
    ASSERT_EQ(cell.candidates.size(), 10U);
    double highest = 0.0;
    for (const Candidate& candidate : cell.candidates) highest = std::max(highest, candidate.accuracy);
    EXPECT_DOUBLE_EQ(cell.best->value, highest);
    EXPECT_GE(cell.best->value, cell.standard->value);
    EXPECT_TRUE(cell.best->chosen.starts_with("lr "));
    EXPECT_EQ(cell.best->runs.size(), 2U);
    EXPECT_DOUBLE_EQ(cell.best->difference, cell.best->value - cell.paper.value);
  }
  // Every rate was tried at the radius that the search had found.
  EXPECT_EQ(results[1].best->runs[1].epsilon, results[1].standard->runs[1].epsilon);
  EXPECT_GT(results[1].best->runs[1].epsilon, 0.0);
}

TEST(Reproduce, WithoutTestLabelsNothingIsChosen) {
  const Data data = small_problem();
  const auto cells = cells_of("table1", 2);
  ReproduceOptions options = quick_options();
  options.best_rates = false;
  const ProgressCallback nobody;
  RunCounter counter(nobody, count_runs(cells, 2, options));
  EXPECT_EQ(count_runs(cells, 2, options), 4U);
  ReproduceReport report;
  report.cells = reproduce_cells(cells, data.training, data.test, options, counter);
  EXPECT_FALSE(report.uses_test_labels());
  for (const ReproducedCell& cell : report.cells) EXPECT_FALSE(cell.best);
  EXPECT_EQ(report.compared(), 2U);
}

TEST(Reproduce, MarksWhatLiesOutsideTheAllowance) {
  const Data data = small_problem();
  ReproduceOptions options = quick_options();
  options.best_rates = false;
  auto cells = cells_of("table1", 2);
  const ProgressCallback nobody;
  RunCounter counter(nobody, 4);
  const double ours = reproduce_cells(cells, data.training, data.test, options, counter)[0].standard->value;
  // The same run against a paper that says a little more and a little less than is allowed: 2 (0.3 + 0.05) + 0.05.
  for (const auto& [distance, outside] : {std::pair{0.74, false}, {0.76, true}, {-0.74, false}, {-0.76, true}}) {
    cells[0].value = ours - distance;
    cells[0].deviation = 0.3;
    RunCounter again(nobody, 4);
    ReproduceReport report;
    report.cells = reproduce_cells(cells, data.training, data.test, options, again);
    EXPECT_EQ(report.cells[0].standard->outside, outside) << distance;
    const std::string line = reproduce_lines(std::span(report.cells).first(1), {});
    EXPECT_EQ(line.find('!') != std::string::npos, outside) << line;
  }
}

TEST(Reproduce, ATableVariesWhatItIsAbout) {
  const Data data = small_problem();
  ReproduceOptions options = quick_options();
  options.best_rates = false;
  const ProgressCallback nobody;
  const auto virtual_counts = cells_of("table5", 2);
  EXPECT_EQ(count_runs(virtual_counts, 1, options), 5U);
  const auto shapes = cells_of("table6", 2);
  RunCounter counter(nobody, 6);
  const auto results = reproduce_cells(shapes, data.training, data.test, options, counter);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].standard->runs[0].epsilon, 0.0);
  EXPECT_GT(results[1].standard->runs[0].epsilon, 0.0);
  EXPECT_NE(results[1].standard->runs[0].epsilon, results[2].standard->runs[0].epsilon);
}

TEST(Reproduce, TheCostOfTheSvmIsChosenOnTestLabelsOnlyForBest) {
  const Data data = small_problem();
  const auto cells = cells_of("table4", 2);
  const ReproduceOptions options = quick_options();
  const ProgressCallback nobody;
  RunCounter counter(nobody, count_runs(cells, 2, options));
  const auto results = reproduce_cells(cells, data.training, data.test, options, counter);
  ASSERT_EQ(results[0].paper.method, "svm");
  EXPECT_TRUE(results[0].best->chosen.starts_with("C "));
  EXPECT_EQ(results[0].candidates.size(), 5U);
  EXPECT_TRUE(results[0].standard->chosen.empty());
}

TEST(Reproduce, CostsThatWereTriedAreNotTriedAgain) {
  const Data data = small_problem();
  const auto cells = cells_of("table4", 2);
  ReproduceOptions options = quick_options();
  std::map<std::string, ManyWayRun> kept;
  std::size_t computed = 0;
  options.cached_runs.find = [&](const std::string& key) -> std::optional<ManyWayRun> {
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  };
  options.cached_runs.keep = [&](const std::string& key, const ManyWayRun& run) {
    kept[key] = run;
    ++computed;
  };
  const ProgressCallback nobody;
  const auto run = [&] {
    RunCounter counter(nobody, count_runs(cells, 2, options));
    return reproduce_cells(cells, data.training, data.test, options, counter);
  };
  const auto first = run();
  EXPECT_EQ(computed, count_runs(cells, 2, options));
  const auto second = run();
  EXPECT_EQ(computed, count_runs(cells, 2, options)) << "nothing was left to compute";
  EXPECT_EQ(second[0].best->chosen, first[0].best->chosen);
  EXPECT_EQ(second[0].best->value, first[0].best->value);
}

TEST(Reproduce, DefaultRatesOfTableSevenStandBesideThePapersDefaults) {
  const Data data = small_problem();
  const auto cells = cells_of("table7", 0);
  ASSERT_EQ(cells.size(), 4U);
  const ReproduceOptions options = quick_options();
  const ProgressCallback nobody;
  RunCounter counter(nobody, count_runs(cells, 1, options));
  const auto results = reproduce_cells(cells, std::span(data.training).first(1), data.test, options, counter);
  EXPECT_TRUE(results[0].best);
  EXPECT_FALSE(results[1].best);
  EXPECT_EQ(results[1].paper.rate, PaperRate::kStandard);
  EXPECT_EQ(results[0].standard->value, results[1].standard->value);
}

TEST(Reproduce, EpisodesChooseTheirRateOnOtherEpisodes) {
  SyntheticOptions data;
  data.classes = 8;
  data.train_rows = 20;
  data.test_rows = 0;
  data.dimension = 16;
  const FeatureSet novel = make_synthetic(data);
  ReproduceOptions options = quick_options();
  options.standard_rates = false;
  options.episodes.episodes = 6;
  options.episodes.seeds = 2;
  const auto cells = cells_of("table3", 1);
  ASSERT_EQ(cells.size(), 10U);
  const auto results = reproduce_episodes(cells, novel, options, {});
  ASSERT_EQ(results.size(), 10U);
  EXPECT_EQ(results[0].candidates.size(), 6U);
  EXPECT_TRUE(results[0].best->test_labels);
  EXPECT_EQ(results[0].best->chosen, results[4].best->chosen);
  // ACC_1 <= ACC_10 <= ACC_100 <= mean, as six episodes make the last three equal.
  EXPECT_LE(results[2].best->value, results[0].best->value);
  EXPECT_FALSE(results[2].allowance);
  const std::string text = reproduce_lines(results, {});
  EXPECT_NE(text.find("paper"), std::string::npos);
  EXPECT_NE(text.find("93.4"), std::string::npos);
}

TEST(Reproduce, FigureThreeTakesItsGainsFromBothMethods) {
  const Data data = small_problem();
  auto cells = cells_of("figure3", 2);
  ReproduceOptions options = quick_options();
  options.best_rates = false;
  const ProgressCallback nobody;
  RunCounter counter(nobody, 4);
  const auto results = reproduce_cells(cells, data.training, data.test, options, counter);
  const auto gain = gain_of(results);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->shots, 2U);
  ASSERT_EQ(gain->gain.bins.size(), 10U);
  EXPECT_EQ(gain->gain.classes, 12U);
  // Every class has as many test examples, so the gains of the classes add up to that of the accuracy.
  double total = 0.0;
  for (const GainBin& bin : gain->gain.bins) total += bin.gain * static_cast<double>(bin.classes) / 12.0;
  EXPECT_NEAR(total, results[1].standard->value - results[0].standard->value, 1e-9);
  EXPECT_FALSE(gain_of(std::span(results).first(1)));
}

TEST(Reproduce, WarnsInRedOnATerminal) {
  const ReproduceOptions options = quick_options();
  const PaperTable table = paper_table("table2");
  EXPECT_NE(reproduce_head(table, options, {true}).find("\033[1;31m"), std::string::npos);
  const std::string plain = reproduce_head(table, options, {});
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_NE(plain.find("CHOSEN ON THE TEST LABELS"), std::string::npos);
}

TEST(Reproduce, SetsThatDoNotFitAreNamed) {
  const Data data = small_problem();
  Matrix<float> narrow(12, 3);
  for (std::size_t i = 0; i < 36; ++i) narrow.data()[i] = 1.0F;
  FeatureSetParts other = parts_of(std::move(narrow));
  other.source = "narrow.pth";
  other.labels.assign(12, 0);
  const FeatureSet test(std::move(other));
  const auto cells = cells_of("table1", 2);
  const ProgressCallback nobody;
  RunCounter counter(nobody, 4);
  try {
    reproduce_cells(cells, data.training, test, quick_options(), counter);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("narrow.pth: expected features of 16 dimensions as in generated, found 3"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace annulus
