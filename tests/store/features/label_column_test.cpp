// Labels of files as class indices and class names.
#include "annulus/store/features/label_column.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

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
