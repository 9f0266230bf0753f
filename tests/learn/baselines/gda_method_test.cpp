// Gaussian discriminant analysis beside the nearest prototype.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

// Classes that vary along x by far more than along y, where they differ.
TEST(Methods, GdaMeasuresDistancesByTheSpreadWithinClasses) {
  constexpr std::size_t kShots = 9;
  Matrix<float> rows(2 * kShots, 3);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const std::size_t own = i / kShots;
    rows(i, 0) = 0.1F * static_cast<float>(i % kShots) - (own == 0 ? 0.3F : 0.5F);
    rows(i, 1) = own == 0 ? 0.1F : -0.1F;
    rows(i, 2) = 1.0F;
    labels.push_back(static_cast<std::int32_t>(own));
  }
  const LabelledExamples support{std::move(rows), labels, 2};
  Matrix<float> query(1, 3);
  query(0, 0) = -0.4F;  // nearer to the mean of class 1 along x, to that of class 0 along y
  query(0, 1) = 0.06F;
  query(0, 2) = 1.0F;
  EXPECT_EQ(answers("ncm", support, query.view()), Classes{1});
  EXPECT_EQ(answers("gda", support, query.view()), Classes{0});
  EXPECT_EQ(answers("lda", support, query.view()), Classes{0});
}

TEST(Methods, GdaAndLdaNameTheNearestPrototypeAtOneShot) {
  const LabelledExamples support{at_degrees({0, 60, 170}), {0, 1, 2}, 3};
  const Matrix<float> queries = at_degrees({10, 35, 100, 130, 200, 300});
  const Classes expected = answers("ncm", support, queries.view());
  EXPECT_EQ(answers("gda", support, queries.view()), expected);
  EXPECT_EQ(answers("lda", support, queries.view()), expected);
}

}  // namespace
}  // namespace annulus
