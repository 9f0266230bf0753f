// Distribution calibration borrows from base classes.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/method.h"
#include "annulus/learn/baselines/softmax_regression.h"
#include "annulus/learn/calibration/calibration.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

// Base classes vary in their first number alone, so calibration learns not to trust it. Nearest prototype does, and is
// misled.
TEST(Methods, CalibrationBorrowsTheSpreadOfBaseClasses) {
  const std::vector<std::pair<float, float>> kinds{{0.4F, 0.2F}, {0.2F, 0.4F}, {0.3F, 0.3F}, {0.4F, 0.4F}};
  Matrix<float> base(kinds.size() * 20, 4);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < base.rows(); ++i) {
    const auto [second, third] = kinds[i / 20];
    const auto place = static_cast<float>(i % 20);
    const float row[] = {0.05F + 0.06F * place, second, third, 0.5F};
    std::copy(std::begin(row), std::end(row), base.row(i).begin());
    labels.push_back(static_cast<std::int32_t>(i / 20));
  }
  FeatureSetParts parts = parts_of(std::move(base));
  parts.labels = std::move(labels);
  const BaseClasses classes{FeatureSet(std::move(parts))};

  LabelledExamples support{Matrix<float>(2, 4), {0, 1}, 2};
  const float first[] = {1.0F, 0.4F, 0.2F, 0.5F};
  const float second[] = {0.2F, 0.2F, 0.4F, 0.5F};
  const float asked[] = {0.2F, 0.4F, 0.2F, 0.5F};  // the first but for its first number
  std::copy(std::begin(first), std::end(first), support.features.row(0).begin());
  std::copy(std::begin(second), std::end(second), support.features.row(1).begin());
  const ConstMatrixView<float> query(asked, 1, 4);
  const Recipe recipe = quick_recipe();
  EXPECT_EQ(method_named("ncm").fit(support, {recipe}, {}).predict(query), Classes{1});
  EXPECT_EQ(method_named("dc").fit(support, {recipe, &classes}, {}).predict(query), Classes{0});
}

TEST(Methods, CalibrationRejectsToRunWithoutFittingBaseClasses) {
  const std::vector<std::string> names{"ncm", "dc"};
  check_methods(names, &base_of(24), 24);
  try {
    check_methods(names, nullptr, 24);
    ADD_FAILURE() << "expected a rejection";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_EQ(error.field(), "base_classes");
    EXPECT_STREQ(error.what(), "expected base_classes, the features of other classes, for the method dc, found none");
  }
  try {
    check_methods(names, &base_of(24), 25);
    ADD_FAILURE() << "expected a rejection";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
  }
}

}  // namespace
}  // namespace annulus
