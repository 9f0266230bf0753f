// Training examples: lengths, the noise scale s, and what is rejected.
#include "annulus/learn/method/virtual_examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/fixtures/expect_error.h"

namespace annulus {
namespace {

const std::vector<std::int32_t> kLabels{0, 1, 1};

// Three examples that have the length 1 once they are normalised: (1, 0), (0, 1), (0.6, 0.8).
Matrix<float> three_rows() {
  Matrix<float> features(3, 2);
  features(0, 0) = 2.0F;
  features(1, 1) = 5.0F;
  features(2, 0) = 3.0F;
  features(2, 1) = 4.0F;
  return features;
}

TEST(TrainingExamples, AreNormalisedAndMeasureTheDeviationOfEveryDimension) {
  const auto examples = make_training_examples<double>(three_rows().view(), kLabels, 2, NoiseShape::kEllipsoidal);
  EXPECT_DOUBLE_EQ(examples.features(0, 0), 1.0);
  EXPECT_DOUBLE_EQ(examples.features(2, 1), 0.8);
  const auto deviation = [](double a, double b, double c) {
    const double mean = (a + b + c) / 3.0;
    return std::sqrt((std::pow(a - mean, 2) + std::pow(b - mean, 2) + std::pow(c - mean, 2)) / 2.0);  // n - 1
  };
  ASSERT_EQ(examples.noise_scale.size(), 2U);
  EXPECT_NEAR(examples.noise_scale[0], deviation(1.0, 0.0, 0.6), 1e-12);
  EXPECT_NEAR(examples.noise_scale[1], deviation(0.0, 1.0, 0.8), 1e-12);
}

TEST(TrainingExamples, SphericalNoiseHasTheSameScaleInEveryDimension) {
  const auto examples = make_training_examples<float>(three_rows().view(), kLabels, 2, NoiseShape::kSpherical);
  EXPECT_EQ(examples.noise_scale, (std::vector<float>{1.0F, 1.0F}));
}

TEST(TrainingExamples, WeightsAreScaledToAMeanOfOne) {
  const auto examples = make_training_examples<float>(three_rows(), kLabels, 2, NoiseShape::kSpherical,
                                                      std::vector<float>{2.0F, 4.0F, 6.0F});
  EXPECT_EQ(examples.weights, (std::vector<float>{0.5F, 1.0F, 1.5F}));
}

TEST(TrainingExamples, RejectsWhatCannotBeTrainedOn) {
  const auto make = [](Matrix<float> features, std::vector<std::int32_t> labels, std::size_t classes) {
    make_training_examples<float>(std::move(features), std::move(labels), classes, NoiseShape::kSpherical);
  };
  expect_error(ErrorKind::kInput, "at least two classes", [&] { make(three_rows(), {0, 0, 0}, 1); });
  expect_error(ErrorKind::kInput, "none of class 2", [&] { make(three_rows(), kLabels, 3); });
  expect_error(ErrorKind::kInput, "found 2 at training example 1", [&] { make(three_rows(), {0, 2, 1}, 2); });
  expect_error(ErrorKind::kInput, "one label for each", [&] { make(three_rows(), {0, 1}, 2); });
  Matrix<float> zero = three_rows();
  zero(0, 0) = 0.0F;
  expect_error(ErrorKind::kInput, "a length to normalise", [&] { make(std::move(zero), kLabels, 2); });
}

TEST(NoiseNames, AreReadAsTheyAreWritten) {
  for (const NoiseShape shape : {NoiseShape::kEllipsoidal, NoiseShape::kSpherical}) {
    EXPECT_EQ(noise_shape_from(to_string(shape)), shape);
  }
  for (const NoiseSharing sharing : {NoiseSharing::kIndependent, NoiseSharing::kShared, NoiseSharing::kGrouped}) {
    EXPECT_EQ(noise_sharing_from(to_string(sharing)), sharing);
  }
  expect_error(ErrorKind::kUsage, "square", [] { noise_shape_from("square"); });
  expect_error(ErrorKind::kUsage, "borrowed", [] { noise_sharing_from("borrowed"); });
}

}  // namespace
}  // namespace annulus
