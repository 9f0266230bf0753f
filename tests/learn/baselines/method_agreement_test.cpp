// Methods against scikit-learn, or a formula in NumPy, on the same rows: the same answer for every test example
// (tests/data/make_method_fixtures.py).
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/unit_rows.h"
#include "annulus/learn/baselines/voting_svm.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/task/few_shot_task.h"

namespace annulus {
namespace {

const std::string kFolder = ANNULUS_TEST_DATA "/methods/";
constexpr std::array kSets{"one_shot", "five_shots", "uneven_shots", "many_shots"};

nlohmann::json expected() {
  std::ifstream file(kFolder + "expected.json");
  return nlohmann::json::parse(file);
}

struct Draw {
  LabelledExamples support;
  Matrix<float> queries;
};

Draw read_split(const std::string& name) {
  const FeatureSet set = read_features(kFolder + name + ".npz");
  const Split split = draw_split(set, {});
  Draw draw{gather(set, split.support), Matrix<float>(split.query.size(), set.dimension())};
  set.copy_rows(split.query, draw.queries.view());
  return draw;
}

class Agreement : public testing::TestWithParam<const char*> {};

TEST_P(Agreement, PredictsEveryExampleAsTheReferenceDoes) {
  const nlohmann::json answers = expected();
  const Recipe recipe = recipe_named("default");
  for (const char* name : kSets) {
    const Draw draw = read_split(name);
    const FittedMethod fitted = method_named(GetParam()).fit(draw.support, {recipe}, {});
    EXPECT_EQ(fitted.predict(draw.queries.view()), answers[name][GetParam()].get<std::vector<std::int32_t>>()) << name;
  }
}

TEST(VotingSvm, AtAFixedCostPredictsEveryExampleAsScikitLearnDoes) {
  const nlohmann::json answers = expected();
  for (const char* name : kSets) {
    const Draw draw = read_split(name);
    const SvmProducts products(unit_rows<double>(draw.support.features.view()).view(), draw.support.labels);
    std::vector<std::size_t> all(draw.support.labels.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const VotingSvm machine(products, all, 1.0);
    const Matrix<float> with = cosines(draw.queries.view(), unit_rows<float>(draw.support.features.view()).view(), 1);
    std::vector<std::int32_t> named;
    for (std::size_t i = 0; i < with.rows(); ++i) named.push_back(machine.vote<float>(with.row(i)));
    EXPECT_EQ(named, answers[name]["svm at 1"].get<std::vector<std::int32_t>>()) << name;
  }
}

TEST(VotingSvm, ChoosesTheCostThatScikitLearnChoosesOnTheSameFolds) {
  const Draw draw = read_split("five_shots");
  const SvmProducts products(unit_rows<double>(draw.support.features.view()).view(), draw.support.labels);
  EXPECT_EQ(choose_svm_cost(products, 1), expected()["five_shots"]["svm cost"].get<double>());
  EXPECT_EQ(choose_svm_cost(products, 3), choose_svm_cost(products, 1));
}

INSTANTIATE_TEST_SUITE_P(Methods, Agreement,
                         testing::Values("ncm", "knn", "gda", "lda", "fecam", "ridge", "ridge-cv", "logistic",
                                         "logistic-cv", "lp++", "linear-svm", "svm"));

}  // namespace
}  // namespace annulus
