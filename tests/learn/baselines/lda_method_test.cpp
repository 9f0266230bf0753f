// Linear discriminant analysis where scikit-learn's estimate has no inverse.
#include <gtest/gtest.h>

#include "tests/fixtures/method_tasks.h"

namespace annulus {
namespace {

double correct_fraction(const Classes& named, const Classes& truth) {
  double correct = 0.0;
  for (std::size_t i = 0; i < named.size(); ++i) correct += named[i] == truth[i] ? 1.0 : 0.0;
  return correct / static_cast<double>(named.size());
}

// There scikit-learn is right once in twelve times, which is chance.
TEST(Methods, LdaOfTwoShotsIsFarBetterThanChance) {
  SyntheticOptions options;
  options.classes = 12;
  options.dimension = 48;
  options.noise = 1.2;
  const FeatureSet set = make_synthetic(options);
  const Split split = draw_split(set, {.shots = 2, .seed = 4});
  const LabelledExamples support = gather(set, split.support);
  Matrix<float> queries(split.query.size(), set.dimension());
  set.copy_rows(split.query, queries.view());
  const Classes truth = set.labels_of(split.query);
  EXPECT_GT(correct_fraction(answers("lda", support, queries.view()), truth), 0.4);
}

// A dimension that is the same everywhere, and one that is the same within classes but not between them.
TEST(Methods, LdaAcceptsConstantDimensions) {
  Matrix<float> rows(6, 4);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    rows(i, 0) = i < 3 ? 1.0F : -1.0F;
    rows(i, 1) = 0.3F * static_cast<float>(i % 3) - 0.3F;
    rows(i, 2) = i < 3 ? 0.4F : 0.1F;
  }
  const LabelledExamples support{rows.clone(), {0, 0, 0, 1, 1, 1}, 2};
  EXPECT_EQ(answers("lda", support, rows.view()), (Classes{0, 0, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace annulus
