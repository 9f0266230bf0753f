// Accuracies on training examples and on virtual examples.
#include "annulus/learn/method/training_accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/random_examples.h"

namespace annulus {
namespace {

// Two classes on two axes, the head's directions on the same axes.
struct Axes {
  Axes() {
    Matrix<float> features(3, 2);
    features(0, 0) = 1.0F;
    features(1, 1) = 1.0F;
    features(2, 0) = 1.0F;
    examples =
        make_training_examples<float>(features.view(), std::vector<std::int32_t>{0, 1, 1}, 2, NoiseShape::kSpherical);
    head.direction(0, 0) = 1.0F;
    head.direction(1, 1) = 1.0F;
  }
  TrainingExamples<float> examples;
  Head<float> head{HeadKind::kCosine, Matrix<float>(2, 2), {1.0F, 1.0F}, {}};
};

TEST(TrainingAccuracy, CountsTrainingExamplesAtRadiusZero) {
  const Axes axes;
  for (const std::size_t batch : {1U, 2U, 256U}) {
    TrainOptions options;
    options.batch = batch;
    EXPECT_DOUBLE_EQ(training_accuracy(axes.head, axes.examples, options), 2.0 / 3.0) << "batch " << batch;
  }
}

TEST(TrainingAccuracy, CountsVirtualExamplesAtAnyOther) {
  const Axes axes;
  TrainOptions options;
  options.epsilon = 1.0;
  options.virtual_count = 2;
  TrainHooks<float> hooks;
  // Every second virtual example is moved far along the second axis: all of those become class 1.
  hooks.noise = [](std::size_t, std::size_t first, MatrixView<float> out) {
    for (std::size_t i = 0; i < out.rows(); ++i) {
      out(i, 0) = 0.0F;
      out(i, 1) = (first + i) % 2 == 0 ? 0.0F : 5.0F;
    }
  };
  EXPECT_DOUBLE_EQ(training_accuracy(axes.head, axes.examples, options, {}, hooks), 4.0 / 6.0);
}

// A fixed accuracy in place of a measured one, and what is kept.
class KnownAccuracy : public FitCheckpoint {
 public:
  std::optional<double> find_accuracy() override { return known; }
  void keep_accuracy(double accuracy) override { kept = accuracy; }
  std::optional<double> known;
  std::optional<double> kept;
};

TEST(TrainingAccuracy, IsTakenFromTheCheckpointOrKeptThere) {
  const Axes axes;
  KnownAccuracy checkpoint;
  TrainOptions options;
  options.checkpoint = &checkpoint;
  const double measured = training_accuracy(axes.head, axes.examples, options);
  EXPECT_EQ(checkpoint.kept, measured);
  checkpoint.known = 0.25;
  EXPECT_EQ(training_accuracy(axes.head, axes.examples, options), 0.25);
}

}  // namespace
}  // namespace annulus
