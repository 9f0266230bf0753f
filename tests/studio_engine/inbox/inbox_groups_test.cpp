// Votes of alike photos, groups that become one, and the order in which mistakes stand out.
#include "studio_engine/inbox/inbox_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/fixtures/made_snapshot.h"

namespace annulus::studio {
namespace {

Prediction says(float cat, float dog, bool rejected = false) {
  Prediction prediction;
  prediction.rejected = rejected;
  prediction.top = {{0, cat}, {1, dog}};
  if (dog > cat) std::swap(prediction.top[0], prediction.top[1]);
  return prediction;
}

std::vector<std::string> ids_of(const InboxGroup& group) {
  std::vector<std::string> ids;
  for (const InboxPhoto& photo : group.photos) ids.push_back(photo.id);
  return ids;
}

const std::vector<std::string> kNames = {"cat", "dog"};

TEST(InboxGroups, WithoutAModelGroupsComeByTheirSize) {
  const std::vector<std::string> photos = {"a", "b", "c", "d", "e", "f", "g", "h"};
  const AlikePhotos alike = {{0, 1, 2}, {3}, {4, 5, 6, 7}, {}};
  const auto groups = inbox_groups(alike, photos, {}, {}, 2);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].key, "group 2 2");
  EXPECT_EQ(ids_of(groups[0]), (std::vector<std::string>{"h", "g", "f", "e"}));  // the least typical first
  EXPECT_EQ(groups[0].suggestion, "");
  EXPECT_TRUE(groups[0].likely.empty());
  EXPECT_EQ(groups[1].key, "group 2 0");
  EXPECT_EQ(groups[2].key, "others");
  EXPECT_EQ(ids_of(groups[2]), std::vector<std::string>{"d"});
}

TEST(InboxGroups, GroupsOfOneClassBecomeOneAndDoubtfulPhotosComeFirst) {
  const std::vector<std::string> photos = {"a", "b", "c", "d", "e"};
  const std::vector<Prediction> predictions = {says(0.98F, 0.02F), says(0.9F, 0.1F), says(0.6F, 0.4F, true),
                                               says(0.99F, 0.01F), says(0.97F, 0.03F)};
  const auto groups = inbox_groups({{0, 1, 2}, {3, 4}}, photos, predictions, kNames, 1);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].key, "class cat");
  EXPECT_EQ(groups[0].suggestion, "cat");
  EXPECT_EQ(ids_of(groups[0]), (std::vector<std::string>{"c", "b", "a", "e", "d"}));
  EXPECT_TRUE(groups[0].photos[0].doubtful);
  EXPECT_FALSE(groups[0].photos[1].doubtful);
  const double votes = (0.98 + 0.9 + 0.6) / 3.0;
  EXPECT_NEAR(groups[0].photos[1].sure, (votes + 0.9) / 2.0, 1e-6);
  EXPECT_NEAR(groups[0].sure, (3.0 * votes + 2.0 * 0.98) / 5.0, 1e-6);
  EXPECT_EQ(groups[0].likely[0].name, "cat");
  EXPECT_NEAR(groups[0].likely[1].probability, 1.0 - groups[0].sure, 1e-6);
}

TEST(InboxGroups, APhotoThatIsSureOfAnotherClassGoesThere) {
  const std::vector<std::string> photos = {"a", "b", "c", "d", "e", "f"};
  std::vector<Prediction> predictions(5, says(0.9F, 0.1F));
  predictions.push_back(says(0.0F, 1.0F));
  const auto groups = inbox_groups({{0, 1, 2, 3, 4, 5}}, photos, predictions, kNames, 1);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].suggestion, "cat");
  EXPECT_EQ(groups[0].photos.size(), 5U);
  EXPECT_EQ(groups[1].suggestion, "dog");
  ASSERT_EQ(groups[1].photos.size(), 1U);
  EXPECT_EQ(groups[1].photos[0].id, "f");
  EXPECT_TRUE(groups[1].photos[0].doubtful);  // those alike are cats
}

TEST(InboxGroups, WhatIsUnsureOrUnknownStaysTogether) {
  const std::vector<std::string> photos = {"a", "b", "c", "d", "e", "f", "g"};
  const std::vector<Prediction> predictions = {says(0.55F, 0.45F),     says(0.6F, 0.4F),       says(0.5F, 0.5F),
                                               says(0.9F, 0.1F, true), says(0.8F, 0.2F, true), says(0.9F, 0.1F, true),
                                               says(0.7F, 0.3F, true)};
  const auto groups = inbox_groups({{3, 4, 5}, {0, 1, 2}, {6}}, photos, predictions, kNames, 1);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].key, "group 1 1");
  EXPECT_EQ(groups[0].suggestion, "cat");
  EXPECT_NEAR(groups[0].sure, 0.55, 1e-6);
  EXPECT_EQ(groups[1].key, "group 1 0");
  EXPECT_EQ(groups[1].suggestion, "");
  EXPECT_EQ(groups[1].sure, 0.0);
  EXPECT_EQ(groups[1].likely[0].name, "cat");  // for the digit keys
  EXPECT_EQ(groups[2].key, "others");
}

TEST(InboxGroups, AlikePhotosAreFoundAndEveryPhotoIsInOneGroup) {
  PhotosOfClasses classes;
  for (int i = 0; i < 30; ++i) {
    classes["cat"].push_back(i);
    classes["dog"].push_back(300 + i);
  }
  const TrainingSnapshot made = made_snapshot("a", classes);
  Matrix<float> features(61, made.data.rows.features.cols());
  std::copy_n(made.data.rows.features.data(), 60 * features.cols(), features.data());  // row 60 has no length
  std::vector<std::string> photos = made.photos;
  photos.push_back("black");
  const AlikePhotos alike = alike_photos(std::as_const(features).view(), photos, 1, {});
  std::vector<std::uint32_t> rows;
  for (const auto& group : alike) {
    const bool cats = group.front() < 30;
    for (const std::uint32_t row : group) {
      rows.push_back(row);
      EXPECT_EQ(row < 30, cats);
    }
  }
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows.size(), 61U);
  for (std::uint32_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], i);
  EXPECT_LE(alike.size(), 9U);
  EXPECT_EQ(alike.front(), std::vector<std::uint32_t>{60});
}

TEST(InboxGroups, OnePhotoIsAGroup) {
  Matrix<float> one(1, 3);
  one.row(0)[1] = 2.0F;
  EXPECT_EQ(alike_photos(std::as_const(one).view(), std::vector<std::string>{"a"}, 1, {}), (AlikePhotos{{0}}));
}

}  // namespace
}  // namespace annulus::studio
