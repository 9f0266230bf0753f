// The head of nearest means gives each row the class whose mean is nearest.
#include "annulus/learn/baselines/prototypes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace annulus {
namespace {

TEST(NearestMeanHead, ItsLargestLogitIsTheNearestMean) {
  Matrix<double> rows(4, 2);
  rows(0, 0) = 1.0;
  rows(1, 0) = 3.0;  // mean of class 0: (2, 0)
  rows(2, 1) = 1.0;
  rows(3, 1) = 1.0;  // mean of class 1: (0, 1)
  const std::vector<std::int32_t> labels{0, 0, 1, 1};
  const Head<float> head = nearest_mean_head(rows.view(), labels, 2);
  Matrix<float> queries(2, 2);
  queries(0, 0) = 0.7F;  // squared distances 1.69 and 1.49
  queries(1, 0) = 0.8F;  // squared distances 1.44 and 1.64
  Matrix<float> logits(2, 2);
  compute_logits<float>(head, queries.view(), logits.view(), 1);
  EXPECT_LT(logits(0, 0), logits(0, 1));
  EXPECT_GT(logits(1, 0), logits(1, 1));
}

}  // namespace
}  // namespace annulus
