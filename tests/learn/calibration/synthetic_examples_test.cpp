// Synthetic examples mixed from a training example and an unknown input, and the logits of heads on them.
#include "annulus/learn/calibration/synthetic_examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace annulus {
namespace {

constexpr std::size_t kClasses = 6;

// A head whose logit of a class is the cosine with its axis: rows of class c have axis c.
FitResult name_axes(LabelledExamples&& rows, const Recipe& /*recipe*/, const ProgressCallback& /*progress*/) {
  FitResult fit;
  fit.head = initial_head<float>(HeadKind::kLinear, rows.classes, rows.features.cols(), 0, 0);
  std::fill(fit.head.bias.begin(), fit.head.bias.end(), 0.0F);
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const auto from = rows.features.row(i);
    std::copy(from.begin(), from.end(), fit.head.direction.row(static_cast<std::size_t>(rows.labels[i])).begin());
  }
  return fit;
}

SupportSet one_axis_each() {
  SupportSet support;
  support.features = Matrix<float>(kClasses, kClasses);
  for (std::size_t c = 0; c < kClasses; ++c) {
    support.features(c, c) = 1.0F;
    support.labels.push_back(static_cast<std::int32_t>(c));
  }
  return support;
}

TEST(SyntheticExamples, MixATrainingExampleWithAnUnknownInput) {
  const SupportSet support = one_axis_each();
  const HoldOutPlan plan = plan_hold_out(support, kClasses, 2);
  Recipe recipe = recipe_named("default");
  set_threads(recipe, 1);
  const ProgressCallback silent;
  HoldOut hold_out{support, {}, recipe, silent, 1, 0, name_axes};
  auto training = train_without_classes(hold_out, plan, {3, 0, std::nullopt});
  ASSERT_TRUE(training);
  ASSERT_EQ(training->classes, 4U);
  const auto scored = score_synthetic_examples(hold_out, {&*training, 1}, 400);
  ASSERT_EQ(scored.size(), 1U);
  ASSERT_EQ(scored[0].labels.size(), 400U);
  // With the mean m = 1/4 on each of the four axes, and the unknown input on another: before it is scaled, a synthetic
  // example has 1/4 + 3/4 a - b/4 on its own axis and 1/4 - a/4 - b/4 on the other three, b^2 = 1 - a^2.
  double least = 1.0;
  double most = 0.0;
  for (std::size_t i = 0; i < 400; ++i) {
    const auto row = scored[0].logits.row(i);
    const auto own = static_cast<std::size_t>(scored[0].labels[i]);
    const double other = static_cast<double>(row[(own + 1) % 4]);
    for (std::size_t c = 0; c < 4; ++c) {
      if (c != own) {
        EXPECT_NEAR(row[c], other, 1e-6);
      }
    }
    // own - other is a in units of the length, and the unknown input's part b is what is left of it.
    const double seen = 3.0 * other * other + static_cast<double>(row[own]) * static_cast<double>(row[own]);
    const double ratio = (static_cast<double>(row[own]) - other) / std::sqrt(1.0 - seen);  // a / b
    const double a = ratio / std::sqrt(1.0 + ratio * ratio);
    least = std::min(least, a);
    most = std::max(most, a);
  }
  EXPECT_GE(least, -1e-3);
  EXPECT_LT(least, 0.02);
  EXPECT_GT(most, kMostInCommon - 0.02);
  EXPECT_LT(most, kMostInCommon + 1e-3);
}

TEST(SyntheticExamples, FewFoldsAreEnoughForManyClasses) {
  const auto folds_of = [](std::size_t classes) {
    SupportSet support;
    support.features = Matrix<float>(classes, 2);
    for (std::size_t c = 0; c < classes; ++c) support.labels.push_back(static_cast<std::int32_t>(c));
    const HoldOutPlan plan = plan_hold_out(support, classes, 0);
    return folds_for_synthetic_examples(plan, plan_unknown_folds(plan));
  };
  EXPECT_EQ(folds_of(5), 5U) << "an unknown input at a time";
  EXPECT_EQ(folds_of(100), 3U) << "twenty at a time";
  EXPECT_EQ(folds_of(895), 1U);
  EXPECT_EQ(folds_of(2), 0U) << "no head of two classes is left";
}

}  // namespace
}  // namespace annulus
