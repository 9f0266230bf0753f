// Weights and means of training examples.
#include "annulus/learn/ensemble/weighted_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace annulus {
namespace {

TrainingExamples<float> three_rows() {
  TrainingExamples<float> rows{Matrix<float>(3, 2), {0, 1, 1}, 2, {}};
  rows.features(0, 0) = 1.0F;
  rows.features(1, 1) = 1.0F;
  rows.features(2, 0) = -1.0F;
  return rows;
}

TEST(WeightedRows, CountOneEachWithoutWeights) {
  const TrainingExamples<float> rows = three_rows();
  EXPECT_EQ(weight_of(rows, 2), 1.0);
  EXPECT_EQ(class_weights(rows), (std::vector<double>{1.0, 2.0}));
  const std::vector<float> mean = mean_row(rows);
  EXPECT_FLOAT_EQ(mean[0], 0.0F);
  EXPECT_FLOAT_EQ(mean[1], 1.0F / 3.0F);
}

TEST(WeightedRows, CountByTheirWeights) {
  TrainingExamples<float> rows = three_rows();
  rows.weights = {0.5F, 2.0F, 0.5F};
  EXPECT_EQ(weight_of(rows, 1), 2.0);
  EXPECT_EQ(class_weights(rows), (std::vector<double>{0.5, 2.5}));
  const std::vector<float> mean = mean_row(rows);
  EXPECT_FLOAT_EQ(mean[0], 0.0F);
  EXPECT_FLOAT_EQ(mean[1], 2.0F / 3.0F);
}

TEST(WeightedRows, PlacesOutsideABlockAreBeyondItsEnd) {
  const TrainingExamples<float> rows = three_rows();
  EXPECT_EQ(place_of(rows, 1, {1, 1}), 0U);
  EXPECT_GE(place_of(rows, 0, {1, 1}), 1U);
}

TEST(WeightedRows, SubtractsElementByElement) {
  std::vector<float> row{3.0F, 5.0F};
  subtract_row(std::vector<float>{1.0F, 7.0F}, row);
  EXPECT_EQ(row, (std::vector<float>{2.0F, -2.0F}));
}

}  // namespace
}  // namespace annulus
