// What a FeatureSet accepts, what it rejects, and what it hands out.
#include "annulus/task/feature_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

FeatureSetParts small_parts() {
  Matrix<float> features(3, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    features(i, 0) = static_cast<float>(i + 1);
    features(i, 1) = -1.0F;
  }
  FeatureSetParts parts = parts_of(std::move(features));
  parts.labels = {0, 1, 1};
  parts.source = "small.npz";
  return parts;
}

// The message of the error that building the set throws; empty when it does not.
std::string rejection(FeatureSetParts parts) {
  try {
    const FeatureSet set(std::move(parts));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

TEST(FeatureSet, NamesClassesByTheirNumberWhenTheyHaveNone) {
  const FeatureSet set(small_parts());
  EXPECT_EQ(set.rows(), 3U);
  EXPECT_EQ(set.dimension(), 2U);
  ASSERT_EQ(set.classes(), 2U);
  EXPECT_EQ(set.class_names()[1], "1");
  EXPECT_TRUE(set.labelled());
}

TEST(FeatureSet, CopiesRowsInTheRequestedOrder) {
  const FeatureSet set(small_parts());
  Matrix<float> out(2, 2);
  const std::vector<std::uint32_t> rows{2, 0};
  set.copy_rows(rows, out.view());
  EXPECT_EQ(out(0, 0), 3.0F);
  EXPECT_EQ(out(1, 0), 1.0F);
  EXPECT_EQ(set.labels_of(rows), (std::vector<std::int32_t>{1, 0}));
}

TEST(FeatureSet, FindsExamplesWhereTheirOrderSays) {
  FeatureSetParts parts = small_parts();
  parts.order = {2, 0, 2, 1};
  parts.labels = {1, 0, 1, 1};
  const FeatureSet set(parts);
  ASSERT_EQ(set.rows(), 4U);
  Matrix<float> all(4, 2);
  set.copy_rows(0, all.view());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all(i, 0), static_cast<float>(parts.order[i] + 1)) << i;
  // So many that they are copied in the order of the matrix.
  std::vector<std::uint32_t> many;
  for (std::uint32_t i = 0; i < 5000; ++i) many.push_back(i * 7 % 4);
  Matrix<float> out(many.size(), 2);
  set.copy_rows(many, out.view());
  for (std::size_t i = 0; i < many.size(); ++i) ASSERT_EQ(out(i, 0), all(many[i], 0)) << i;
  parts.order = {0, 3};
  parts.labels.clear();
  EXPECT_NE(rejection(parts).find("example 1 is at row 3, beyond the 3 rows"), std::string::npos);
}

TEST(FeatureSet, WidensHalfPrecisionRows) {
  Matrix<std::uint16_t> half(1, 3);
  half(0, 0) = 0x3c00;  // 1
  half(0, 1) = 0xc000;  // -2
  half(0, 2) = 0x3800;  // 0.5
  FeatureSetParts parts;
  parts.half_features = std::as_const(half).view();
  const FeatureSet set(std::move(parts));
  Matrix<float> out(1, 3);
  set.copy_rows(0, out.view());
  EXPECT_EQ(out(0, 0), 1.0F);
  EXPECT_EQ(out(0, 1), -2.0F);
  EXPECT_EQ(out(0, 2), 0.5F);
  EXPECT_FALSE(set.labelled());
}

TEST(FeatureSet, RejectsValuesThatAreNotFiniteAndNamesTheirPosition) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Matrix<float> features(2000, 3);
    for (std::size_t i = 0; i < features.rows(); ++i) features(i, 0) = 1.0F;
    features(1500, 2) = bad;
    FeatureSetParts parts = parts_of(std::move(features));
    parts.source = "bad.npz";
    const std::string message = rejection(std::move(parts));
    EXPECT_NE(message.find("bad.npz"), std::string::npos) << message;
    EXPECT_NE(message.find("row 1500, column 2"), std::string::npos) << message;
  }
}

TEST(FeatureSet, RejectsARowOfZeros) {
  FeatureSetParts parts = parts_of(Matrix<float>(1, 4));
  EXPECT_NE(rejection(std::move(parts)).find("row 0 holds only zeros"), std::string::npos);
}

TEST(FeatureSet, RejectsArraysOfAnotherLength) {
  FeatureSetParts parts = small_parts();
  parts.labels.pop_back();
  EXPECT_NE(rejection(std::move(parts)).find("expected 3 labels"), std::string::npos);
  parts = small_parts();
  parts.paths = {"a.jpg"};
  EXPECT_NE(rejection(std::move(parts)).find("expected 3 paths"), std::string::npos);
  parts = small_parts();
  parts.is_train = {1, 0, 1, 0};
  EXPECT_NE(rejection(std::move(parts)).find("expected 3 is_train"), std::string::npos);
}

TEST(FeatureSet, RejectsLabelsWithoutAClass) {
  FeatureSetParts parts = small_parts();
  parts.labels[1] = -1;
  EXPECT_NE(rejection(std::move(parts)).find("found -1 at row 1"), std::string::npos);
  parts = small_parts();
  parts.class_names = {"only"};
  EXPECT_NE(rejection(std::move(parts)).find("label 1 is beyond the 1 class names"), std::string::npos);
}

TEST(FeatureSet, RejectsAnEmptySet) {
  EXPECT_NE(rejection(parts_of(Matrix<float>(0, 4))).find("at least one feature row"), std::string::npos);
  EXPECT_NE(rejection(FeatureSetParts{}).find("at least one feature row"), std::string::npos);
}

TEST(FeatureSet, GroupsHaveANumberOfZeroOrMoreForEachExample) {
  FeatureSetParts parts = small_parts();
  parts.groups = {0, 1};
  EXPECT_NE(rejection(std::move(parts)).find("expected 3 groups, one for each feature row, but found 2"),
            std::string::npos);
  parts = small_parts();
  parts.groups = {0, 1, -3};
  EXPECT_NE(rejection(std::move(parts)).find("expected groups of 0 or more, found -3 at row 2"), std::string::npos);
  parts = small_parts();
  parts.groups = {4, 2, 4};
  const FeatureSet set(std::move(parts));
  const std::vector<std::uint32_t> rows{2, 1};
  EXPECT_EQ(groups_of(set, rows), (std::vector<std::int32_t>{4, 2}));
  EXPECT_TRUE(groups_of(FeatureSet(small_parts()), rows).empty());
  EXPECT_NE(content_checksum(set), content_checksum(FeatureSet(small_parts())));
}

TEST(FeatureSet, MembersOfGroupsComeInTheOrderOfTheFirst) {
  using Groups = std::vector<std::vector<std::uint32_t>>;
  const std::vector<std::int32_t> groups{7, 7, 3, 7, 3, 0};
  const std::vector<std::uint32_t> rows{4, 1, 2, 3};
  EXPECT_EQ(group_members(groups, rows), (Groups{{4, 2}, {1, 3}}));
  EXPECT_EQ(group_members({}, rows), (Groups{{4}, {1}, {2}, {3}})) << "without groups every example is on its own";
}

}  // namespace
}  // namespace annulus
