// Features in LIBSVM's sparse text.
#include <gtest/gtest.h>

#include <string>

#include "annulus/store/features/feature_formats.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"

namespace annulus {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

FeatureSet libsvm(const std::string& text) { return FeatureSet(libsvm_features(in_memory(text))); }

TEST(Libsvm, ReadsSparseRows) {
  const FeatureSet set = libsvm("+1 1:0.5 4:-2 # comment\n\n-1\t2:1e2\r\n2.0 1:1 2:2 3:3 4:4");
  EXPECT_EQ(copied(set.class_names()), (Names{"-1", "1", "2"}));
  EXPECT_EQ(copied(set.labels()), (Labels{1, 0, 2}));
  ASSERT_EQ(set.dimension(), 4U);
  const auto rows = rows_of(set);
  EXPECT_EQ(rows(0, 0), 0.5F);
  EXPECT_EQ(rows(0, 1), 0.0F);
  EXPECT_EQ(rows(0, 3), -2.0F);
  EXPECT_EQ(rows(1, 1), 100.0F);
}

TEST(Libsvm, NamesLineAndColumnOfAProblem) {
  constexpr auto kInput = ErrorKind::kInput;
  expect_error(kInput, "line 2, column 3: expected index:value with a finite value, found \"2\"",
               [] { libsvm("1 1:1\n1 1:1 2\n"); });
  expect_error(kInput, "found \"2:x\"", [] { libsvm("1 2:x\n"); });
  expect_error(kInput, "found \"1:nan\"", [] { libsvm("1 1:nan\n"); });
  expect_error(kInput, "found \":1\"", [] { libsvm("1 :1\n"); });
  expect_error(kInput, "expected an index from 1 to 16777216, found 0", [] { libsvm("1 0:1\n"); });
  expect_error(kInput, "expected an index from 3 to 16777216, found 2", [] { libsvm("1 2:1 2:1\n"); });
  expect_error(kInput, "found 99999999999", [] { libsvm("1 99999999999:1\n"); });
  expect_error(kInput, "expected an integer label, found \"owl\"", [] { libsvm("owl 1:1\n"); });
  expect_error(kInput, "expected an integer label, found \"0.5\"", [] { libsvm("0.5 1:1\n"); });
  expect_error(kInput, "expected an integer label, found \"1e300\"", [] { libsvm("1e300 1:1\n"); });
  expect_error(kInput, "found none with a value", [] { libsvm("1\n2\n"); });
  expect_error(kInput, "found none with a value", [] { libsvm(""); });
  expect_error(kInput, "row 1 holds only zeros", [] { libsvm("1 1:1\n2\n"); });
}

TEST(Libsvm, RejectsADenseMatrixFarLargerThanTheText) {
  expect_error(ErrorKind::kInput, "2 rows of 16777216 dimensions are too sparse",
               [] { libsvm("1 16777216:1\n2 1:1\n"); });
}

}  // namespace
}  // namespace annulus
