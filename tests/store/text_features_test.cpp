// CSV and LIBSVM text, and the rules that turn labels into classes.
#include <gtest/gtest.h>

#include <string>

#include "annulus/store/feature_file.h"
#include "annulus/store/feature_formats.h"
#include "annulus/store/label_column.h"
#include "tests/store/expect_error.h"
#include "tests/store/sample_features.h"
#include "tests/store/scratch_folder.h"

namespace annulus {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

FeatureSet csv(const std::string& text) { return FeatureSet(csv_features(in_memory(text))); }
FeatureSet libsvm(const std::string& text) { return FeatureSet(libsvm_features(in_memory(text))); }

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
  expect_error(kInput, "expected rows of numbers, found none", [] { csv("f,label\n"); });
  expect_error(kInput, "expected rows of numbers, found none", [] { csv("label\nowl\n"); });
  expect_error(kFormat, "line 3: expected 3 columns, found 2", [] { csv("1,2,3\n1,2,3\n1,2\n"); });
  expect_error(kFormat, "line 2: expected a closing quote", [] { csv("f,label\n1,\"owl\n"); });
  expect_error(kFormat, "line 2: expected a comma after the closing quote, found \"x\"",
               [] { csv("f,label\n1,\"owl\"x\n"); });
  expect_error(kFormat, "lone carriage return", [] { csv("1,2\r3,4\n"); });
  expect_error(kFormat, "columns 1 and 2 have the same role", [] { csv("label,class,f\n1,1,1\n"); });
  expect_error(kFormat, "empty file", [] { csv("\n\r\n"); });
  expect_error(kFormat, "binary data", [] { csv(std::string("1,\0", 3)); });
}

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

TEST(Libsvm, RefusesADenseMatrixFarLargerThanTheText) {
  expect_error(ErrorKind::kInput, "2 rows of 16777216 numbers are too sparse", [] { libsvm("1 16777216:1\n2 1:1\n"); });
}

TEST(TextFeatures, AreKnownByName) {
  const ScratchFolder folder;
  EXPECT_EQ(read_features(folder.write("a.csv", "1,2,0\n3,4,1\n")).dimension(), 2U);
  for (const char* const name : {"a.svm", "a.libsvm", "a.TXT"}) {
    EXPECT_EQ(read_features(folder.write(name, "1 1:1 3:1\n2 1:1\n")).dimension(), 3U);
  }
}

TEST(LabelColumn, GapsDisappearOnlyWithoutClassNames) {
  FeatureSetParts parts;
  set_integer_labels(std::vector<std::int64_t>{7, 0, 1LL << 60, 7}, parts);
  EXPECT_EQ(parts.labels, (Labels{1, 0, 2, 1}));
  EXPECT_EQ(parts.class_names, (Names{"0", "7", "1152921504606846976"}));

  FeatureSetParts named;
  named.class_names = {"a", "b", "c"};
  set_integer_labels(std::vector<std::int64_t>{2, 0}, named);
  EXPECT_EQ(named.labels, (Labels{2, 0}));
  EXPECT_EQ(named.class_names.size(), 3U);
}

TEST(LabelColumn, TextMustBeAmongTheClassNames) {
  FeatureSetParts parts;
  parts.class_names = {"owl", "auk"};
  set_text_labels(Names{"auk", "owl"}, parts);
  EXPECT_EQ(parts.labels, (Labels{1, 0}));
  FeatureSetParts other;
  other.class_names = {"owl"};
  expect_error(ErrorKind::kInput, "label \"ibis\" at row 1 is not among the 1 class names", [&] {
    set_text_labels(Names{"owl", "ibis"}, other);
  });
}

}  // namespace
}  // namespace annulus
