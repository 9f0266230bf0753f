// Windows of frames agree by the geometric mean of their probabilities, within one video only.
#include "annulus/learn/model/consensus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "annulus/learn/model/fit_model.h"
#include "annulus/task/synthetic.h"
#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

const std::vector<std::string> kNames = {"a", "b"};

Prediction frame(float of_a, bool rejected = false, float score = 1.0F) {
  Prediction prediction;
  prediction.top = of_a >= 0.5F ? std::vector<RankedClass>{{0, of_a}, {1, 1 - of_a}}
                                : std::vector<RankedClass>{{1, 1 - of_a}, {0, of_a}};
  prediction.rejected = rejected;
  prediction.unknown_score = score;
  return prediction;
}

TEST(Consensus, IsTheGeometricMeanOfTheWindow) {
  std::vector<Prediction> frames = {frame(0.9F), frame(0.2F), frame(0.8F)};
  agree(frames, 3, 2, kNames);
  const double a = std::cbrt(0.9 * 0.2 * 0.8);
  const double b = std::cbrt(0.1 * 0.8 * 0.2);
  EXPECT_EQ(frames[1].label, "a");
  EXPECT_NEAR(frames[1].probability, a / (a + b), 1e-6);
  EXPECT_NEAR(frames[1].top[1].probability, b / (a + b), 1e-6);
  const double first = std::sqrt(0.9 * 0.2) / (std::sqrt(0.9 * 0.2) + std::sqrt(0.1 * 0.8));  // two frames at the end
  EXPECT_NEAR(frames[0].top[0].probability, first, 1e-6);
}

TEST(Consensus, OneFrameRulesNoClassOutAlone) {
  std::vector<Prediction> frames = {frame(0.99F), frame(0.0F), frame(0.99F)};
  agree(frames, 3, 1, kNames);
  EXPECT_GT(frames[1].top[0].probability, 0.0F);
  EXPECT_EQ(frames[1].top.size(), 1U);
  std::vector<Prediction> many(9, frame(0.99F));
  many[4] = frame(0.0F);
  agree(many, 9, 1, kNames);
  EXPECT_EQ(many[4].label, "a");
}

TEST(Consensus, MostFramesDecideWhatIsUnknown) {
  std::vector<Prediction> frames = {frame(0.9F, true, 0.0F), frame(0.9F, false, 3.0F), frame(0.9F, true, 0.0F)};
  agree(frames, 3, 2, kNames);
  EXPECT_TRUE(frames[1].rejected);
  EXPECT_EQ(frames[1].label, kUnknownLabel);
  EXPECT_FLOAT_EQ(frames[1].unknown_score, 1.0F);
  EXPECT_FALSE(frames[0].rejected);  // one of two is not most
  EXPECT_EQ(frames[0].label, "a");
}

TEST(Consensus, ReachesNeitherOtherVideosNorPhotosNorBoxes) {
  SyntheticOptions synthetic;
  synthetic.classes = 3;
  synthetic.train_rows = 4;
  synthetic.test_rows = 3;
  synthetic.dimension = 8;
  const FeatureSet rows = make_synthetic(synthetic);
  Recipe recipe = recipe_named("baseline");
  FitModelOptions fitting;
  fitting.calibrate = false;
  const Model model = fit_model(training_data(rows, draw_split(rows, {4, 1}).support), recipe, fitting).model;
  Matrix<float> features(7, 8);
  rows.copy_rows(2, features.view());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.paths = {
      "x.mp4#t=0", "x.mp4#t=1", "x.mp4#t=2", "y.mp4#t=0", "p.jpg", "z.mp4#t=0&xywh=1,2,3,4", "z.mp4#t=1&xywh=1,2,3,4"};
  const FeatureSet set(std::move(parts));
  const auto predicted = [&](std::size_t frames, std::size_t top) {
    std::vector<Prediction> all;
    PredictorOptions options;
    options.top = top;
    predict_frames(model, options, frames, set, [&](std::size_t, std::span<Prediction> predictions) {
      all.insert(all.end(), predictions.begin(), predictions.end());
    });
    return all;
  };
  const auto alone = predicted(1, 3);
  const auto together = predicted(3, 3);
  ASSERT_EQ(together.size(), 7U);
  for (const std::size_t i : {3U, 4U, 5U, 6U}) {
    EXPECT_EQ(together[i].label, alone[i].label) << i;
    EXPECT_NEAR(together[i].probability, alone[i].probability, 1e-6) << i;
  }
  std::vector<Prediction> expected(alone.begin(), alone.begin() + 3);
  agree(expected, 3, 3, model.class_names);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(together[i].probability, expected[i].probability);
  EXPECT_EQ(predicted(3, 1)[4].top.size(), 1U);
  expect_error(ErrorKind::kUsage, "expected consensus to be an odd number of frames, found 2",
               [&] { predicted(2, 1); });
}

}  // namespace
}  // namespace annulus
