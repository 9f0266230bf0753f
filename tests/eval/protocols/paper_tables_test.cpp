// The paper's numbers against values and sums typed anew from its pages.
#include "annulus/eval/protocols/paper_tables.h"

#include <gtest/gtest.h>

#include <numeric>

#include "annulus/base/error.h"

namespace annulus {
namespace {

double sum_of(const PaperTable& table) {
  return std::accumulate(table.cells.begin(), table.cells.end(), 0.0,
                         [](double sum, const PaperCell& cell) { return sum + cell.value; });
}

// The only cell that fits; -1 when there is none or more than one.
const PaperCell& cell_of(const PaperTable& table, const PaperFeatures& features, const std::string& method,
                         std::size_t shots, const std::string& metric = "accuracy", PaperRate rate = PaperRate::kBest) {
  static const PaperCell kNone{};
  const PaperCell* found = nullptr;
  for (const PaperCell& cell : table.cells) {
    if (cell.features == features && cell.method == method && cell.shots == shots && cell.metric == metric &&
        cell.rate == rate) {
      EXPECT_EQ(found, nullptr) << "two cells fit";
      found = &cell;
    }
  }
  EXPECT_NE(found, nullptr) << "no cell fits";
  return found == nullptr ? kNone : *found;
}

TEST(PaperTables, HaveAllTheirRows) {
  EXPECT_EQ(paper_table("table1").cells.size(), 22U * 7U);
  EXPECT_EQ(paper_table("table2").cells.size(), 16U);
  EXPECT_EQ(paper_table("table3").cells.size(), 20U * 2U * 5U);
  EXPECT_EQ(paper_table("table4").cells.size(), 2U * 7U);
  EXPECT_EQ(paper_table("table5").cells.size(), 5U * 7U);
  EXPECT_EQ(paper_table("table6").cells.size(), 3U * 7U);
  EXPECT_EQ(paper_table("table7").cells.size(), 16U * 2U);
  EXPECT_EQ(paper_table("figure3").cells.size(), 2U * 7U);
}

TEST(PaperTables, SpotValues) {
  const PaperTable one = paper_table("table1");
  EXPECT_EQ(cell_of(one, {"DINO", "Imagenet", "deit_small_p16"}, "baseline", 1).value, 39.2);
  EXPECT_EQ(cell_of(one, {"MSN", "Imagenet", "deit_base_p4"}, "ibm2", 8).value, 74.7);
  EXPECT_EQ(cell_of(one, {"MSN", "Imagenet", "deit_base_p4"}, "ibm2", 8).deviation, 0.0);
  EXPECT_EQ(cell_of(one, {"BYOL", "CUB", "resnet50"}, "ibm2", 16).value, 57.6);
  EXPECT_EQ(cell_of(one, {"BYOL", "CUB", "resnet50"}, "ibm2", 5).deviation, 1.3);
  EXPECT_EQ(cell_of(one, {"MoCov3", "CUB", "deit_small_p16"}, "baseline", 3).value, 35.5);
  const PaperFeatures small{"DINO", "Imagenet_1pt", "deit_small_p16"};
  EXPECT_EQ(cell_of(paper_table("table2"), small, "ibm2", 0).value, 65.2);
  EXPECT_EQ(cell_of(paper_table("table7"), small, "baseline", 0, "accuracy", PaperRate::kStandard).value, 63.2);
  EXPECT_EQ(cell_of(paper_table("table7"), small, "baseline", 0).value, 64.7);
  const PaperTable three = paper_table("table3");
  const auto episodes = PaperRate::kEpisodes;
  EXPECT_EQ(cell_of(three, {"PMF", "CIFAR-FS", "resnet50"}, "ibm2", 1, "acc_1", episodes).value, 36.3);
  EXPECT_EQ(cell_of(three, {"Meta-Baseline", "CIFAR-FS", "resnet12"}, "ibm2", 5, "acc_100", episodes).value, 74.1);
  EXPECT_EQ(cell_of(three, {"S2M2_R", "mini-ImageNet", "wrn_28_10"}, "baseline", 1, "sigma", episodes).value, 10.0);
  EXPECT_EQ(cell_of(paper_table("table4"), {"MSN", "Imagenet", "deit_large_p7"}, "svm", 1).value, 54.8);
  EXPECT_EQ(paper_table("table5").cells.back().value, 60.3);
  EXPECT_EQ(paper_table("table5").cells.back().virtual_count, 400U);
  EXPECT_EQ(paper_table("table6").cells[7].noise_shape, "spherical");
  EXPECT_EQ(paper_table("table6").cells[7].value, 33.0);
  EXPECT_EQ(paper_table("table6").cells[0].method, "baseline");
}

TEST(PaperTables, Sums) {
  EXPECT_NEAR(
      sum_of(paper_table("table2")),
      70.1 + 70.6 + 64.7 + 65.2 + 58.1 + 59.1 + 67.3 + 68.0 + 75.4 + 76.1 + 74.8 + 75.6 + 50.5 + 51.3 + 55.7 + 56.9,
      1e-9);
  EXPECT_NEAR(sum_of(paper_table("table4")),
              54.8 + 64.8 + 68.2 + 70.0 + 70.8 + 72.8 + 74.7 + 58.2 + 66.9 + 70.2 + 71.9 + 72.7 + 74.3 + 76.1, 1e-9);
  // The columns of R: 1, 10, 50, 200 and 400.
  EXPECT_NEAR(sum_of(paper_table("table5")), 342.7 + 346.6 + 347.1 + 347.9 + 347.9, 1e-9);
  EXPECT_NEAR(sum_of(paper_table("table6")), 338.5 + 339.3 + 347.9, 1e-9);
}

// Numbers that the paper prints twice.
TEST(PaperTables, AgreeWithEachOther) {
  const PaperTable one = paper_table("table1");
  for (const char* name : {"table4", "table5", "table6"}) {
    for (const PaperCell& cell : paper_table(name).cells) {
      const bool plain = cell.virtual_count == 0 || cell.virtual_count == 200;
      if (!plain || cell.noise_shape == "spherical" || cell.method == "svm") continue;
      EXPECT_EQ(cell.value, cell_of(one, cell.features, cell.method, cell.shots).value) << name << ", " << cell.shots;
    }
  }
  const PaperTable seven = paper_table("table7");
  for (const PaperCell& cell : paper_table("table2").cells) {
    EXPECT_EQ(cell.value, cell_of(seven, cell.features, cell.method, 0).value) << cell.features.architecture;
  }
}

TEST(PaperTables, FigureThreeHasNoNumbersOfItsOwn) {
  const PaperTable figure = paper_table("figure3");
  EXPECT_NE(figure.note.find("without numbers"), std::string::npos);
  EXPECT_EQ(figure.cells.front().features.pretraining, "MoCov3");
}

TEST(PaperTables, UnknownNamesAreRejected) {
  EXPECT_THROW(paper_table("table8"), Error);
  EXPECT_EQ(backbone_name("deit_large_p7"), "ViT-L/7");
  EXPECT_EQ(backbone_name("own"), "own");
}

TEST(PaperTables, AllowancesNameTheirBasis) {
  const PaperTable one = paper_table("table1");
  const auto cub = allowance_of(cell_of(one, {"DINO", "CUB", "deit_small_p16"}, "baseline", 1));
  ASSERT_TRUE(cub);
  EXPECT_NEAR(cub->half_width, 2.0 * (1.4 + 0.05) + 0.05, 1e-12);
  // No deviation of its own: table 1's of the same features.
  const auto svm = allowance_of(cell_of(paper_table("table4"), {"MSN", "Imagenet", "deit_large_p7"}, "svm", 3));
  ASSERT_TRUE(svm);
  EXPECT_NEAR(svm->half_width, 2.0 * (0.6 + 0.05) + 0.05, 1e-12);
  EXPECT_NE(svm->basis.find("table 1"), std::string::npos);
  EXPECT_EQ(allowance_of(paper_table("table2").cells.front())->half_width, 0.5);
  const PaperCell mean = paper_table("table3").cells.front();
  EXPECT_EQ(mean.metric, "acc_m");
  EXPECT_NEAR(allowance_of(mean)->half_width, 2.0 * 6.1 * std::sqrt(2.0 / 2500.0) + 0.05, 1e-12);
  EXPECT_FALSE(allowance_of(paper_table("table3").cells[2]));
}

TEST(PaperTables, EveryRowHasANetworkAndAPreprocessing) {
  for (const std::string& name : paper_table_names()) {
    for (const PaperCell& cell : paper_table(name).cells) {
      const PaperNetwork network = paper_network(cell.features);
      EXPECT_FALSE(network.name.empty()) << name << " " << cell.features.pretraining << cell.features.architecture;
      EXPECT_FALSE(network.preprocessing.empty()) << name << " " << cell.features.dataset;
    }
  }
  EXPECT_EQ(paper_network({"MSN", "CUB", "deit_large_p7"}).name, "msn-vitl7");
  EXPECT_EQ(paper_network({"PMF", "CIFAR-FS", "resnet50"}).name, "pmf-resnet50-cifar");
  EXPECT_EQ(paper_network({"PMF", "mini-ImageNet", "resnet50"}).preprocessing, "square-224");
  EXPECT_EQ(paper_network({"S2M2_R", "mini-ImageNet", "wrn_28_10"}).preprocessing, "episode-80");
  EXPECT_TRUE(paper_network({"Somebody", "CUB", "resnet50"}).name.empty());
}

}  // namespace
}  // namespace annulus
