// RanPAC: what random rectified projections add to ridge regression.
#include <gtest/gtest.h>

#include <vector>

#include "annulus/learn/baselines/method.h"
#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

// Each class is at two opposite directions, which no linear score tells apart.
TEST(Methods, RanpacSeparatesWhatALinearHeadCannot) {
  const LabelledExamples support{at_degrees({0, 180, 10, 190, 90, 270, 100, 280}), {0, 0, 0, 0, 1, 1, 1, 1}, 2};
  const Matrix<float> queries = at_degrees({5, 185, 95, 275});
  EXPECT_EQ(answers("ranpac", support, queries.view()), (Classes{0, 0, 1, 1}));
  EXPECT_NE(answers("ridge", support, queries.view()), (Classes{0, 0, 1, 1}));
}

TEST(Methods, RanpacDependsOnTheSeedAlone) {
  const Overlapping task = overlapping_classes();
  Recipe recipe = quick_recipe();
  const auto scores = [&](std::uint64_t seed, int threads) {
    set_seed(recipe, seed);
    set_threads(recipe, threads);
    const FittedMethod fitted = method_named("ranpac").fit(task.support, {recipe}, {});
    Matrix<float> result(task.queries.rows(), task.support.classes);
    fitted.predict_and_score(task.queries.view(), result.view());
    return std::vector<float>(result.data(), result.data() + result.rows() * result.cols());
  };
  const std::vector<float> first = scores(1, 1);
  EXPECT_EQ(scores(1, 3), first);
  EXPECT_NE(scores(2, 1), first);
}

}  // namespace
}  // namespace annulus
