// Transductive methods: their scores are those of their formulas in NumPy (tests/data/make_transductive_fixtures.py),
// whatever the threads and the order of the queries, and who gains depends on the balance of the queries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/base/random.h"
#include "annulus/kernels/gaussian.h"
#include "annulus/kernels/softmax_loss.h"
#include "annulus/learn/baselines/method.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

Matrix<float> matrix_of(const nlohmann::json& rows) {
  Matrix<float> matrix(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) matrix(i, j) = rows[i][j].get<float>();
  }
  return matrix;
}

Matrix<float> scores_of(const std::string& method, const LabelledExamples& support, ConstMatrixView<float> queries,
                        int threads = 1) {
  Recipe recipe = quick_recipe();
  set_threads(recipe, threads);
  return method_named(method).score_queries(support, queries, {recipe}, {}).scores;
}

std::vector<std::string> transductive_names() {
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.transductive()) names.emplace_back(method.name);
  }
  return names;
}

class Transductive : public testing::TestWithParam<std::string> {};

TEST_P(Transductive, ScoresAreThoseOfTheFormula) {
  std::ifstream file(ANNULUS_TEST_DATA "/methods/transductive.json");
  const nlohmann::json tasks = nlohmann::json::parse(file);
  ASSERT_EQ(tasks.size(), 3U);
  for (const nlohmann::json& task : tasks) {
    const LabelledExamples support{matrix_of(task["support"]), task["labels"].get<std::vector<std::int32_t>>(),
                                   task["classes"].get<std::size_t>()};
    const Matrix<float> expected = matrix_of(task["scores"][GetParam()]);
    const Matrix<float> scores = scores_of(GetParam(), support, matrix_of(task["queries"]).view());
    ASSERT_EQ(scores.rows(), expected.rows());
    ASSERT_EQ(scores.cols(), expected.cols());
    for (std::size_t i = 0; i < scores.rows(); ++i) {
      for (std::size_t k = 0; k < scores.cols(); ++k) EXPECT_NEAR(scores(i, k), expected(i, k), 3e-4) << i << " " << k;
    }
  }
}

// More rows than a thread takes at once.
TEST_P(Transductive, ThreadsDoNotMatter) {
  const Overlapping task = overlapping_classes();
  ASSERT_GT(task.support.labels.size() + task.queries.rows(), 256U);
  const Matrix<float> one = scores_of(GetParam(), task.support, task.queries.view(), 1);
  const Matrix<float> three = scores_of(GetParam(), task.support, task.queries.view(), 3);
  EXPECT_TRUE(std::equal(one.data(), one.data() + one.rows() * one.cols(), three.data()));
}

TEST_P(Transductive, LearnsOverlappingClassesFarBetterThanChance) {
  const Overlapping task = overlapping_classes();
  const Matrix<float> scores = scores_of(GetParam(), task.support, task.queries.view(), 2);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < scores.rows(); ++i) {
    if (static_cast<std::int32_t>(argmax(scores.row(i))) == task.truth[i]) ++correct;
  }
  EXPECT_GT(3 * correct, scores.rows());  // chance is one in twelve
}

TEST_P(Transductive, TheOrderOfTheQueriesDoesNotMatter) {
  const Overlapping task = overlapping_classes();
  const std::size_t count = 40;
  Matrix<float> some(count, task.queries.cols());
  Matrix<float> reversed(count, task.queries.cols());
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = task.queries.row(7 * i % task.queries.rows());
    std::copy(row.begin(), row.end(), some.row(i).begin());
    std::copy(row.begin(), row.end(), reversed.row(count - 1 - i).begin());
  }
  const Matrix<float> scores = scores_of(GetParam(), task.support, some.view());
  const Matrix<float> turned = scores_of(GetParam(), task.support, reversed.view());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < scores.cols(); ++k) EXPECT_NEAR(scores(i, k), turned(count - 1 - i, k), 1e-3);
  }
}

TEST_P(Transductive, ProbabilitiesSumToOneWhereTheyAreMeantAsSuch) {
  const Overlapping task = overlapping_classes();
  const Recipe recipe = quick_recipe();
  const QueryScores all = method_named(GetParam()).score_queries(task.support, task.queries.view(), {recipe}, {});
  EXPECT_EQ(all.probabilities, GetParam() != "bd-cspn");
  for (std::size_t i = 0; all.probabilities && i < all.scores.rows(); ++i) {
    double sum = 0.0;
    for (const float value : all.scores.row(i)) sum += static_cast<double>(value);
    EXPECT_NEAR(sum, 1.0, 1e-4);
  }
}

TEST_P(Transductive, OneQueryAndEqualQueriesHaveFiniteScores) {
  const LabelledExamples support{at_degrees({10, -10, 100, 80}), {1, 1, 0, 0}, 2};
  for (const auto& degrees : {std::vector<double>{20}, std::vector<double>{20, 20, 20}}) {
    const Matrix<float> scores = scores_of(GetParam(), support, at_degrees(degrees).view());
    ASSERT_EQ(scores.rows(), degrees.size());
    for (std::size_t i = 0; i < scores.rows(); ++i) {
      for (const float value : scores.row(i)) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST_P(Transductive, StopsWhenProgressSaysSo) {
  const Overlapping task = overlapping_classes();
  const Recipe recipe = quick_recipe();
  EXPECT_THROW(method_named(GetParam())
                   .score_queries(task.support, task.queries.view(), {recipe}, [](const Progress&) { return false; }),
               Error);
}

INSTANTIATE_TEST_SUITE_P(Methods, Transductive, testing::ValuesIn(transductive_names()), [](const auto& name) {
  std::string text = name.param;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

// Percent of queries that are right, over tasks of five overlapping classes at one shot; class c has counts[c] queries.
double accuracy(const std::string& method, const std::vector<std::size_t>& counts) {
  constexpr std::size_t kDimension = 16;
  constexpr std::size_t kTasks = 40;
  std::size_t correct = 0;
  std::size_t total = 0;
  for (std::uint32_t number = 0; number < kTasks; ++number) {
    std::uint64_t used = 0;
    Matrix<float> means(counts.size(), kDimension);
    fill_gaussian({9, RandomUse::kSynthetic, number}, used, {means.data(), means.rows() * kDimension});
    used += means.rows() * kDimension;
    const auto example = [&](std::size_t c, std::span<float> row) {
      fill_gaussian({9, RandomUse::kSynthetic, number}, used, row);
      used += kDimension;
      for (std::size_t j = 0; j < kDimension; ++j) row[j] += means(c, j);
    };
    LabelledExamples support{Matrix<float>(counts.size(), kDimension), {}, counts.size()};
    std::vector<std::size_t> truth;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      example(c, support.features.row(c));
      support.labels.push_back(static_cast<std::int32_t>(c));
      truth.insert(truth.end(), counts[c], c);
    }
    Matrix<float> queries(truth.size(), kDimension);
    for (std::size_t i = 0; i < truth.size(); ++i) example(truth[i], queries.row(i));
    const Matrix<float> scores = scores_of(method, support, queries.view());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (argmax(scores.row(i)) == truth[i]) ++correct;
    }
    total += truth.size();
  }
  return 100.0 * static_cast<double>(correct) / static_cast<double>(total);
}

// What decides who wins: methods that take balance for granted gain by it, and lose more than they gain without it.
TEST(TransductiveBalance, DecidesWhoWins) {
  const std::vector<std::size_t> balanced{15, 15, 15, 15, 15};
  const std::vector<std::size_t> unbalanced{50, 15, 6, 3, 1};
  const double baseline = accuracy("transductive-finetune", balanced);  // nearly the nearest prototype
  for (const char* method : {"tim", "pt-map"}) {
    const double gain = accuracy(method, balanced) - baseline;
    const double loss = accuracy("transductive-finetune", unbalanced) - accuracy(method, unbalanced);
    EXPECT_GT(gain, 3.0) << method;
    EXPECT_GT(loss, 0.0) << method;
    EXPECT_GT(accuracy("alpha-tim", unbalanced), accuracy(method, unbalanced)) << method;
  }
}

}  // namespace
}  // namespace annulus
