// Models made by the one function that every app calls, and what they say about rows.
#include "annulus/learn/recogniser.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/fit_model.h"
#include "annulus/learn/prediction.h"
#include "annulus/learn/unknown.h"
#include "annulus/store/model_file.h"
#include "annulus/store/paged_memory.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

TEST(MostProbable, RanksByProbabilityThenIndex) {
  const auto ranked = most_probable(std::vector<float>{0.1F, 0.3F, 0.2F, 0.3F, 0.1F}, 4);
  ASSERT_EQ(ranked.size(), 4U);
  EXPECT_EQ(ranked[0].index, 1);
  EXPECT_EQ(ranked[1].index, 3);
  EXPECT_EQ(ranked[2].index, 2);
  EXPECT_EQ(ranked[3].index, 0);
  EXPECT_EQ(ranked[3].probability, 0.1F);
}

TEST(MostProbable, ListsNoMoreClassesThanThereAre) {
  EXPECT_EQ(most_probable(std::vector<float>{0.5F, 0.5F}, 5).size(), 2U);
}

// Rows of which the model learns half.
class RecogniserTest : public testing::Test {
 protected:
  static constexpr std::size_t kClasses = 12;
  static FeatureSet set(std::size_t classes = kClasses) {
    SyntheticOptions options;
    options.classes = classes;
    options.train_rows = 6;
    options.test_rows = 6;
    options.dimension = 40;
    return make_synthetic(options);
  }
  static ModelFit fit(const FitModelOptions& options = {}, std::size_t classes = kClasses) {
    Recipe recipe = recipe_named("default");
    set_epochs(recipe, 10);
    const FeatureSet features = set(classes);
    return fit_model(training_data(features, draw_split(features, {6, 1}).support), recipe, options);
  }
  static Matrix<float> queries(std::size_t classes = kClasses) {
    const FeatureSet features = set(classes);
    const auto rows = draw_split(features, {6, 1}).query;
    return gather(features, rows).features;
  }
};

TEST_F(RecogniserTest, RowsInAFileGiveTheSameBits) {
  const ModelFit in_memory = fit();
  page_large_matrices(256, testing::TempDir());
  const ModelFit in_files = fit();
  page_large_matrices(std::numeric_limits<std::size_t>::max(), {});
  EXPECT_EQ(model_bytes(in_memory.model), model_bytes(in_files.model));
}

TEST_F(RecogniserTest, AModelRemembersWhereItCameFrom) {
  FitModelOptions options;
  options.seed = 7;
  options.shots = "6";
  const ModelFit fitted = fit(options);
  EXPECT_EQ(fitted.model.class_names.size(), 12U);
  EXPECT_EQ(fitted.model.training.at("seed"), "7");
  EXPECT_EQ(fitted.model.training.at("shots"), "6");
  EXPECT_EQ(fitted.model.training.at("rows"), "72");
  EXPECT_EQ(fitted.model.training.count("threads"), 0U);
  EXPECT_EQ(fitted.model.support.rows(), 72U);
  EXPECT_EQ(fitted.model.provenance.count("source"), 1U);
  EXPECT_EQ(fitted.model.temperature, fitted.held_out.temperature);
  EXPECT_FALSE(fitted.held_out.labels.empty());
  EXPECT_FALSE(fitted.model.unknown.empty());
}

TEST_F(RecogniserTest, WithoutCalibrationOrRowsNothingIsRefused) {
  FitModelOptions options;
  options.calibrate = false;
  const ModelFit fitted = fit(options);
  EXPECT_TRUE(fitted.held_out.labels.empty());
  EXPECT_FALSE(Recogniser(fitted.model).may_refuse());
  options.strip = true;
  const ModelFit stripped = fit(options);
  EXPECT_TRUE(stripped.model.support.empty());
  RecogniserOptions asked;
  asked.explain = true;
  EXPECT_THROW(Recogniser(stripped.model, asked), Error);
}

TEST_F(RecogniserTest, RefusesAnUnknownMethodAndAShareOfOne) {
  FitModelOptions options;
  options.method = "guess";
  EXPECT_THROW(fit(options), Error);
  const ModelFit fitted = fit();
  RecogniserOptions asked;
  asked.false_reject = 1.0;
  EXPECT_THROW(Recogniser(fitted.model, asked), Error);
}

// More classes than a product with few columns has, where the order of sums depends on how rows are asked about.
TEST_F(RecogniserTest, SaysWhatItsPartsSay) {
  constexpr std::size_t kMany = 24;
  const ModelFit fitted = fit({}, kMany);
  const Matrix<float> rows = queries(kMany);
  RecogniserOptions options;
  options.explain = true;
  options.top = 1;
  options.false_reject = 0.2;
  const std::vector<Answer> answers = Recogniser(fitted.model, options).answer(rows.view());
  ASSERT_EQ(answers.size(), rows.rows());
  Matrix<float> probabilities(rows.rows(), kMany);
  const PreparedHead head(fitted.model.head);
  head.logits(rows.view(), probabilities.view(), 1);
  to_probabilities(probabilities.view(), fitted.model.temperature);
  const std::vector<std::int32_t> classes = head.classes(rows.view(), 1);
  std::vector<float> scores(rows.rows());
  unknown_scores(fitted.model, rows.view(), scores);
  const float threshold = unknown_threshold(fitted.model.unknown, 0.2);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto two = most_probable(probabilities.row(i), 2);
    ASSERT_EQ(answers[i].top.size(), 1U);
    EXPECT_EQ(answers[i].top[0].index, two[0].index);
    EXPECT_EQ(answers[i].top[0].index, classes[i]);
    EXPECT_EQ(answers[i].top[0].probability, two[0].probability);
    EXPECT_EQ(answers[i].unknown_score, scores[i]);
    EXPECT_EQ(answers[i].refused, answers[i].unknown_score < threshold);
    refused += answers[i].refused ? 1U : 0U;
    ASSERT_TRUE(answers[i].explanation);
    EXPECT_EQ(answers[i].explanation->nearest.size(), kExplainedRows);
    EXPECT_EQ(answers[i].explanation->runner_up->index, two[1].index);
    EXPECT_GT(answers[i].explanation->radius, 0.0F);
  }
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, answers.size());
}

TEST_F(RecogniserTest, LongAnswersStopWhenTold) {
  const ModelFit fitted = fit();
  const Matrix<float> rows = queries();
  const ProgressCallback stop = [](const Progress&) { return false; };
  const PreparedHead head(fitted.model.head);
  Matrix<float> logits(rows.rows(), kClasses);
  std::vector<float> scores(rows.rows());
  EXPECT_THROW(head.logits(rows.view(), logits.view(), 1, stop), Error);
  EXPECT_THROW(head.classes(rows.view(), 1, stop), Error);
  EXPECT_THROW(unknown_scores(fitted.model, rows.view(), scores, 1, stop), Error);
}

// A server gathers rows of several requests into one block: that must not change an answer.
class AnswersTest : public RecogniserTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(AnswersTest, DoNotDependOnTheRowsBeside) {
  const ModelFit fitted = fit({}, GetParam());
  const Matrix<float> rows = queries(GetParam());
  RecogniserOptions options;
  options.explain = true;
  const Recogniser recogniser(fitted.model, options);
  const std::vector<Answer> together = recogniser.answer(rows.view());
  for (const std::size_t block : {1U, 3U, 17U}) {
    for (std::size_t first = 0; first + block <= rows.rows(); first += block) {
      const std::vector<Answer> alone = recogniser.answer(rows.view().rows_at(first, block));
      for (std::size_t i = 0; i < block; ++i) {
        const Answer& a = alone[i];
        const Answer& b = together[first + i];
        EXPECT_EQ(a.top[0].probability, b.top[0].probability) << block << " " << first + i;
        EXPECT_EQ(a.unknown_score, b.unknown_score);
        EXPECT_EQ(a.explanation->nearest[0].cosine, b.explanation->nearest[0].cosine);
        EXPECT_EQ(a.explanation->radius, b.explanation->radius);
      }
    }
  }
}

// Fewer and more classes than a product with few columns has.
INSTANTIATE_TEST_SUITE_P(Classes, AnswersTest, testing::Values(12U, 24U));

}  // namespace
}  // namespace annulus
