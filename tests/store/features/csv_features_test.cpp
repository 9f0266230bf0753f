// Features in CSV files.
#include <gtest/gtest.h>

#include <string>

#include "annulus/store/features/feature_formats.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

FeatureSet csv(const std::string& text) { return FeatureSet(csv_features(in_memory(text))); }

TEST(Csv, ReadsAHeader) {
  const FeatureSet set =
      csv("\xEF\xBB\xBFpath,f0,Label,f1,is_train\r\n\"a,\"\"1\"\".jpg\",1.5,owl,-2e-1,1\r\n\r\nb, +3 "
          ",\"night\nowl\",4,false\r\n");
  EXPECT_EQ(copied(set.class_names()), (Names{"night\nowl", "owl"}));
  EXPECT_EQ(copied(set.labels()), (Labels{1, 0}));
  EXPECT_EQ(copied(set.paths()), (Names{"a,\"1\".jpg", "b"}));
  EXPECT_EQ(copied(set.is_train()), (std::vector<std::uint8_t>{1, 0}));
  const auto rows = rows_of(set);
  EXPECT_EQ(rows(0, 0), 1.5F);
  EXPECT_EQ(rows(0, 1), -0.2F);
  EXPECT_EQ(rows(1, 0), 3.0F);
}

TEST(Csv, WithoutHeaderTheLastColumnIsTheLabel) {
  const FeatureSet numbers = csv("1,2,10\n3,4,9\n");
  EXPECT_EQ(numbers.dimension(), 2U);
  EXPECT_EQ(copied(numbers.class_names()), (Names{"9", "10"}));
  EXPECT_EQ(copied(csv("1,2,owl\n3,4,007").class_names()), (Names{"007", "owl"}));
}

TEST(Csv, WithAHeaderButNoLabelColumnIsUnlabelled) {
  const FeatureSet set = csv("a,b\n1,2\n");
  EXPECT_FALSE(set.labelled());
  EXPECT_EQ(set.dimension(), 2U);
}

TEST(Csv, NamesLineAndColumnOfAProblem) {
  constexpr auto kInput = ErrorKind::kInput;
  constexpr auto kFormat = ErrorKind::kFormat;
  expect_error(kInput, "line 3, column 2: expected a finite number, found \"x\"",
               [] { csv("label,f\n1,2\n\"a\nb\",x\n"); });
  expect_error(kInput, "line 3, column 2: expected a finite number, found \"1.0.0\"",
               [] { csv("label,f\n1,2\n3,1.0.0\n"); });
  expect_error(kInput, "line 2, column 1: expected a finite number, found \"nan\"", [] { csv("f,label\nnan,1\n"); });
  expect_error(kInput, "found \"-inf\"", [] { csv("f,label\n-inf,1\n"); });
  expect_error(kInput, "found \"1e39\"", [] { csv("f,label\n1e39,1\n"); });
  expect_error(kInput, "found \"\"", [] { csv("f,label\n,1\n"); });
  expect_error(kInput, "line 2, column 2: expected a label", [] { csv("f,label\n1,\n"); });
  expect_error(kInput, "is_train to be 0 or 1, found \"2\"", [] { csv("f,is_train\n1,2\n"); });
  expect_error(kInput, "found -1 at row 0", [] { csv("f,label\n1,-1\n"); });
  expect_error(kInput, "row 1 holds only zeros", [] { csv("f,label\n1,1\n0,2\n"); });
  expect_error(kInput, "expected lines of numbers, found none", [] { csv("f,label\n"); });
  expect_error(kInput, "expected lines of numbers, found none", [] { csv("label\nowl\n"); });
  expect_error(kFormat, "line 3: expected 3 columns, found 2", [] { csv("1,2,3\n1,2,3\n1,2\n"); });
  expect_error(kFormat, "line 2: expected a closing quote", [] { csv("f,label\n1,\"owl\n"); });
  expect_error(kFormat, "line 2: expected a comma after the closing quote, found \"x\"",
               [] { csv("f,label\n1,\"owl\"x\n"); });
  expect_error(kFormat, "lone carriage return", [] { csv("1,2\r3,4\n"); });
  expect_error(kFormat, "columns 1 and 2 have the same role", [] { csv("label,class,f\n1,1,1\n"); });
  expect_error(kFormat, "empty file", [] { csv("\n\r\n"); });
  expect_error(kFormat, "binary data", [] { csv(std::string("1,\0", 3)); });
}

TEST(Csv, ReadsGroupsByTheirNames) {
  const FeatureSet set = csv("f,label,group\n1,a,film\n2,a,\n3,b,clip\n4,b,film\n5,b,\n");
  EXPECT_EQ(copied(set.groups()), (std::vector<std::int32_t>{0, 1, 2, 0, 3})) << "without a name, on its own";
  EXPECT_EQ(set.dimension(), 1U);
  EXPECT_TRUE(csv("f,label,group\n1,a,\n2,b,\n").groups().empty());
}

}  // namespace
}  // namespace annulus
