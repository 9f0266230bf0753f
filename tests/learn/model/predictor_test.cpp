// Models made by the one function that every app calls, and what they say about rows.
#include "annulus/learn/model/predictor.h"

#include <gtest/gtest.h>

#include <limits>

#include "annulus/base/error.h"
#include "annulus/learn/model/fit_model.h"
#include "annulus/learn/model/prepared_head.h"
#include "annulus/learn/openset/open_set_scores.h"
#include "annulus/store/files/paged_memory.h"
#include "annulus/store/models/model_file.h"
#include "annulus/task/synthetic.h"

namespace annulus {
namespace {

// Rows of which the model learns half.
class PredictorTest : public testing::Test {
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

TEST_F(PredictorTest, RowsInAFileGiveTheSameBits) {
  const ModelFit in_memory = fit();
  page_large_matrices(256, testing::TempDir());
  const ModelFit in_files = fit();
  page_large_matrices(std::numeric_limits<std::size_t>::max(), {});
  EXPECT_EQ(model_bytes(in_memory.model), model_bytes(in_files.model));
}

TEST_F(PredictorTest, AModelRemembersWhereItCameFrom) {
  FitModelOptions options;
  options.seed = 7;
  options.shots = "6";
  const ModelFit fitted = fit(options);
  EXPECT_EQ(fitted.model.class_names.size(), 12U);
  EXPECT_EQ(fitted.model.training.seed, 7U);
  EXPECT_EQ(fitted.model.training.shots, "6");
  EXPECT_EQ(fitted.model.training.examples, 72U);
  EXPECT_EQ(fitted.model.training.held_out.examples, fitted.held_out.labels.size());
  EXPECT_EQ(fitted.model.support.rows(), 72U);
  EXPECT_EQ(fitted.model.provenance.count("source"), 1U);
  EXPECT_EQ(fitted.model.temperature, fitted.held_out.temperature);
  EXPECT_FALSE(fitted.held_out.labels.empty());
  EXPECT_FALSE(fitted.model.unknown.empty());
}

TEST_F(PredictorTest, WithoutCalibrationOrRowsNothingIsRejected) {
  FitModelOptions options;
  options.calibrate = false;
  const ModelFit fitted = fit(options);
  EXPECT_TRUE(fitted.held_out.labels.empty());
  EXPECT_FALSE(Predictor(fitted.model).may_reject());
  options.strip = true;
  const ModelFit stripped = fit(options);
  EXPECT_TRUE(stripped.model.support.empty());
  PredictorOptions asked;
  asked.explain = true;
  EXPECT_THROW(Predictor(stripped.model, asked), Error);
}

TEST_F(PredictorTest, RejectsAFalseRejectionRateOfOne) {
  const ModelFit fitted = fit();
  PredictorOptions asked;
  asked.false_reject = 1.0;
  EXPECT_THROW(Predictor(fitted.model, asked), Error);
}

// More classes than a product with few columns has, where the order of sums depends on how rows are asked about.
TEST_F(PredictorTest, SaysWhatItsPartsSay) {
  constexpr std::size_t kMany = 24;
  const ModelFit fitted = fit({}, kMany);
  const Matrix<float> rows = queries(kMany);
  PredictorOptions options;
  options.explain = true;
  options.top = 1;
  options.false_reject = 0.2;
  const std::vector<Prediction> predictions = Predictor(fitted.model, options).predict(rows.view());
  ASSERT_EQ(predictions.size(), rows.rows());
  Matrix<float> probabilities(rows.rows(), kMany);
  const PreparedHead head(fitted.model.head);
  head.logits(rows.view(), probabilities.view(), 1);
  to_probabilities(probabilities.view(), fitted.model.temperature);
  const std::vector<std::int32_t> classes = head.classes(rows.view(), 1);
  std::vector<float> scores(rows.rows());
  unknown_scores(fitted.model, rows.view(), scores);
  const float threshold = unknown_threshold(fitted.model.unknown, 0.2);
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto two = most_probable(probabilities.row(i), 2);
    ASSERT_EQ(predictions[i].top.size(), 1U);
    EXPECT_EQ(predictions[i].top[0].index, two[0].index);
    EXPECT_EQ(predictions[i].top[0].index, classes[i]);
    EXPECT_EQ(predictions[i].top[0].probability, two[0].probability);
    EXPECT_EQ(predictions[i].unknown_score, scores[i]);
    EXPECT_EQ(predictions[i].rejected, predictions[i].unknown_score < threshold);
    EXPECT_EQ(predictions[i].probability, two[0].probability);
    const auto best = static_cast<std::size_t>(two[0].index);
    EXPECT_EQ(predictions[i].label, predictions[i].rejected ? kUnknownLabel : fitted.model.class_names[best]);
    rejected += predictions[i].rejected ? 1U : 0U;
    ASSERT_TRUE(predictions[i].explanation);
    EXPECT_EQ(predictions[i].explanation->nearest.size(), kExplainedExamples);
    EXPECT_EQ(predictions[i].explanation->runner_up->index, two[1].index);
    EXPECT_GT(predictions[i].explanation->boundary_distance, 0.0F);
  }
  EXPECT_GT(rejected, 0U);
  EXPECT_LT(rejected, predictions.size());
}

TEST_F(PredictorTest, ASetIsPredictedInBlocksAsItsRowsAre) {
  SyntheticOptions data;
  data.classes = kClasses;
  data.train_rows = 6;
  data.test_rows = 180;  // more than two blocks
  data.dimension = 40;
  const FeatureSet large = make_synthetic(data);
  const ModelFit fitted = fit();
  const Predictor predictor(fitted.model);
  Matrix<float> rows(large.rows(), large.dimension());
  large.copy_rows(0, rows.view());
  const std::vector<Prediction> expected = predictor.predict(std::as_const(rows).view());
  std::size_t done = 0;
  std::size_t blocks = 0;
  predict_set(predictor, large, [&](std::size_t first, std::span<Prediction> predictions) {
    EXPECT_EQ(first, done);
    ++blocks;
    for (const Prediction& prediction : predictions) {
      EXPECT_EQ(prediction.label, expected[done].label) << done;
      EXPECT_EQ(prediction.probability, expected[done].probability) << done;
      EXPECT_EQ(prediction.unknown_score, expected[done].unknown_score) << done;
      ++done;
    }
  });
  EXPECT_EQ(done, large.rows());
  EXPECT_GT(blocks, 2U);
  const ProgressCallback stop = [](const Progress&) { return false; };
  EXPECT_THROW(predict_set(
                   predictor, large, [](std::size_t, std::span<Prediction>) {}, stop),
               Error);
}

TEST_F(PredictorTest, LongAnswersStopWhenTold) {
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

// A server gathers rows of several requests into one block: that must not change a prediction.
class AnswersTest : public PredictorTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(AnswersTest, DoNotDependOnTheRowsBeside) {
  const ModelFit fitted = fit({}, GetParam());
  const Matrix<float> rows = queries(GetParam());
  PredictorOptions options;
  options.explain = true;
  const Predictor predictor(fitted.model, options);
  const std::vector<Prediction> together = predictor.predict(rows.view());
  for (const std::size_t block : {1U, 3U, 17U}) {
    for (std::size_t first = 0; first + block <= rows.rows(); first += block) {
      const std::vector<Prediction> alone = predictor.predict(rows.view().rows_at(first, block));
      for (std::size_t i = 0; i < block; ++i) {
        const Prediction& a = alone[i];
        const Prediction& b = together[first + i];
        EXPECT_EQ(a.top[0].probability, b.top[0].probability) << block << " " << first + i;
        EXPECT_EQ(a.unknown_score, b.unknown_score);
        EXPECT_EQ(a.explanation->nearest[0].cosine, b.explanation->nearest[0].cosine);
        EXPECT_EQ(a.explanation->boundary_distance, b.explanation->boundary_distance);
      }
    }
  }
}

// Fewer and more classes than a product with few columns has.
INSTANTIATE_TEST_SUITE_P(Classes, AnswersTest, testing::Values(12U, 24U));

TEST_F(PredictorTest, NamesAGroupWhereTheClassIsUnsure) {
  Model model = fit().model;
  const Matrix<float> rows = queries();
  const std::vector<Prediction> plain = Predictor(model, {.false_reject = 0.0}).predict(rows.view());
  for (std::size_t c = 0; c < kClasses; ++c) model.parents[model.class_names[c]] = c < 6 ? "first" : "second";
  const Predictor predictor(model, {.false_reject = 0.0, .sure = 0.9});
  const std::vector<Prediction> grouped = predictor.predict(rows.view());
  std::size_t groups = 0;
  for (std::size_t i = 0; i < grouped.size(); ++i) {
    const Prediction& prediction = grouped[i];
    ASSERT_EQ(prediction.lineage.size(), 2U);
    EXPECT_EQ(prediction.top.front().index, plain[i].top.front().index);
    EXPECT_EQ(prediction.probability, prediction.lineage[prediction.level].probability);
    const RankedNode& group = prediction.lineage[0];
    EXPECT_EQ(prediction.label == "first" || prediction.label == "second", prediction.level == 0);
    EXPECT_EQ(prediction.level == 1, prediction.lineage[1].probability >= 0.9F);
    EXPECT_GE(group.probability, prediction.lineage[1].probability);
    groups += prediction.level == 0 ? 1U : 0U;
  }
  EXPECT_GT(groups, 0U);
  EXPECT_LT(groups, grouped.size());
  const std::vector<Prediction> classes = Predictor(model, {.false_reject = 0.0, .sure = 0.0}).predict(rows.view());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    EXPECT_EQ(classes[i].label, plain[i].label);
    EXPECT_EQ(classes[i].probability, plain[i].probability);
  }
  EXPECT_THROW(Predictor(model, {.sure = 1.5}), Error);
}

}  // namespace
}  // namespace annulus
