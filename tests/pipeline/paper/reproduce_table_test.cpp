// Which rows of a table are measured, by which recipe, and what contradicts a table; on stand-ins for the paper's
// files.
#include "annulus/pipeline/paper/reproduce_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

TableOptions options_of(const std::string& table, std::vector<std::string> only = {}) {
  TableOptions options;
  options.table = table;
  options.only = std::move(only);
  return options;
}

TEST(ChosenTable, TakesTheRowsThatFit) {
  const std::size_t all = chosen_table(options_of("table1")).cells.size();
  EXPECT_EQ(all, paper_table("table1").cells.size());
  EXPECT_EQ(chosen_table(options_of("table1", {"*/*/*"})).cells.size(), all);
  const PaperTable birds = chosen_table(options_of("table1", {"*/CUB", "DINO/Imagenet/deit_small_p16"}));
  EXPECT_LT(birds.cells.size(), all);
  for (const PaperCell& cell : birds.cells) {
    const bool other = cell.features == PaperFeatures{"DINO", "Imagenet", "deit_small_p16"};
    EXPECT_TRUE(other || cell.features.dataset == "CUB") << cell.features.dataset;
  }
  TableOptions two = options_of("table1", {"DINO/CUB"});
  two.shots = {2};
  for (const PaperCell& cell : chosen_table(two).cells) EXPECT_EQ(cell.shots, 2U);
}

TEST(ChosenTable, RejectsWhatContradictsTheTable) {
  expect_error(ErrorKind::kUsage, "no row", [] { chosen_table(options_of("table1", {"CLIP"})); });
  expect_error(ErrorKind::kUsage, "no row",
               [] { chosen_table(options_of("table1", {"DINO/CUB/deit_small_p16/more"})); });
  TableOptions shots = options_of("table2");
  shots.shots = {5};
  expect_error(ErrorKind::kUsage, "expected no shots", [&] { chosen_table(shots); });
  TableOptions count = options_of("table5");
  count.recipe.virtual_count = 5;
  expect_error(ErrorKind::kUsage, "expected no virtual_count", [&] { chosen_table(count); });
  TableOptions shape = options_of("table6");
  shape.recipe.noise_shape = "spherical";
  expect_error(ErrorKind::kUsage, "expected no noise_shape", [&] { chosen_table(shape); });
  TableOptions metric = options_of("table1");
  metric.recipe.metric = "backbone";
  expect_error(ErrorKind::kUsage, "expected metric to be none or data", [&] { chosen_table(metric); });
}

TEST(ProtocolOf, TakesThePapersRecipeUnlessAnotherIsNamed) {
  EXPECT_EQ(protocol_of(options_of("table1"), "resnet50").recipe.name, "paper-resnet50");
  EXPECT_EQ(protocol_of(options_of("table1"), "deit_small_p16").recipe.name, "paper");
  EXPECT_EQ(protocol_of(options_of("table3"), "resnet50").recipe.name, "episodes");
  TableOptions named = options_of("table1");
  named.recipe_of_paper = false;
  named.recipe.recipe = "ibm2";
  EXPECT_EQ(protocol_of(named, "resnet50").recipe.name, "ibm2");
}

TEST(ProtocolOf, MeasuresTheRatesOfTheTable) {
  const auto rates = [](const char* table, TableRates wanted) {
    TableOptions options = options_of(table);
    options.rates = wanted;
    const ReproduceOptions protocol = protocol_of(options, "deit_small_p16");
    return std::pair(protocol.best_rates, protocol.standard_rates);
  };
  EXPECT_EQ(rates("table1", TableRates::kAsPaper), std::pair(true, true));
  EXPECT_EQ(rates("table3", TableRates::kAsPaper), std::pair(true, false));
  EXPECT_EQ(rates("table3", TableRates::kBoth), std::pair(true, true));
  EXPECT_EQ(rates("table1", TableRates::kDefault), std::pair(false, true));
  EXPECT_EQ(rates("table1", TableRates::kBest), std::pair(true, false));
  EXPECT_EQ(rates("figure3", TableRates::kBest), std::pair(false, true));
}

TEST(ReproduceTable, MeasuresWhatIsThereAndListsTheRest) {
  const FeatureTree tree(std::string(ANNULUS_TEST_DATA) + "/reproduce");
  TableOptions options = options_of("table1", {"DINO/CUB", "BYOL/CUB"});
  options.shots = {1};
  options.rates = TableRates::kDefault;
  options.runs = 1;
  options.recipe.virtual_count = 2;
  options.recipe.epochs = 2;
  options.recipe.epsilon = 0.5;
  std::size_t heard = 0;
  const ReproduceReport report = reproduce_table(chosen_table(options), tree, options, nullptr, {},
                                                 [&](std::span<const ReproducedCell> cells, const GainByShots* gain) {
                                                   heard += cells.size();
                                                   EXPECT_EQ(gain, nullptr);
                                                 });
  ASSERT_EQ(report.cells.size(), 2U);  // baseline and ibm2
  EXPECT_EQ(heard, 2U);
  for (const ReproducedCell& cell : report.cells) {
    EXPECT_EQ(cell.paper.features.pretraining, "DINO");
    ASSERT_TRUE(cell.standard);
    EXPECT_FALSE(cell.best);
  }
  ASSERT_EQ(report.missing.size(), 1U);
  EXPECT_EQ(report.missing[0].features.pretraining, "BYOL");
  EXPECT_EQ(report.missing[0].files.size(), 2U);  // one run and the test file
  EXPECT_FALSE(metadata_of(report, options).test_labels_used);
}

}  // namespace
}  // namespace annulus
