// Training of prototypes with queries: where it starts, and where each term of the loss takes it.
#include "annulus/learn/transductive/prototype_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

LabelledExamples two_classes() { return {at_degrees({0, 90}), {0, 1}, 2}; }

double entropy(std::span<const float> row) {
  double sum = 0.0;
  for (const float p : row) sum -= static_cast<double>(p) * std::log(static_cast<double>(p));
  return sum;
}

TEST(PrototypeTraining, WithoutStepsItIsTheSoftmaxOfDistancesToTheMeans) {
  PrototypeTraining training;
  training.steps = 0;
  const QueryScores all = train_prototypes(two_classes(), at_degrees({30, 45}).view(), training, 1, {});
  const double near = 2.0 - 2.0 * std::cos(std::acos(-1.0) / 6.0);  // |x - w|^2 at 30 degrees
  const double far = 1.0;                                           // at 60 degrees
  EXPECT_NEAR(all.scores(0, 0), 1.0 / (1.0 + std::exp(-7.5 * (far - near))), 1e-5);
  EXPECT_NEAR(all.scores(1, 0), 0.5, 1e-5);
  EXPECT_TRUE(all.probabilities);
}

TEST(PrototypeTraining, ConditionalEntropyMakesQueriesSure) {
  const Matrix<float> queries = at_degrees({35, 40, 52, 56});
  PrototypeTraining training;
  training.steps = 0;
  const QueryScores before = train_prototypes(two_classes(), queries.view(), training, 1, {});
  training.steps = 300;
  training.learning_rate = 1e-3;
  training.cross_entropy = 0.1;
  const QueryScores after = train_prototypes(two_classes(), queries.view(), training, 1, {});
  for (std::size_t i = 0; i < queries.rows(); ++i)
    EXPECT_LT(entropy(after.scores.row(i)), entropy(before.scores.row(i)));
}

// Three of four queries lie on the side of class 0; with the marginal entropy, half of the weight goes to class 1.
TEST(PrototypeTraining, MarginalEntropyBalancesTheClasses) {
  const Matrix<float> queries = at_degrees({20, 25, 30, 80});
  const auto share_of_first = [&](double marginal, double order) {
    PrototypeTraining training;
    training.steps = 300;
    training.learning_rate = 1e-3;
    training.cross_entropy = 0.01;
    training.conditional_entropy = 0.0;
    training.marginal_entropy = marginal;
    training.order = order;
    const QueryScores all = train_prototypes(two_classes(), queries.view(), training, 1, {});
    double sum = 0.0;
    for (std::size_t i = 0; i < queries.rows(); ++i) sum += static_cast<double>(all.scores(i, 0)) / 4.0;
    return sum;
  };
  EXPECT_GT(share_of_first(0.0, 1.0), 0.7);
  EXPECT_NEAR(share_of_first(1.0, 1.0), 0.5, 0.02);
  EXPECT_NEAR(share_of_first(1.0, 2.0), 0.5, 0.02);
}

}  // namespace
}  // namespace annulus
