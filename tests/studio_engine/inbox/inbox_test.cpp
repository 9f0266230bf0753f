// Groups that stay while photos leave, suggestions that follow the model, and photos to label next.
#include "studio_engine/inbox/inbox.h"

#include <gtest/gtest.h>

#include <utility>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/made_snapshot.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

PhotosOfClasses three_looks(int first, int count) {
  PhotosOfClasses classes;
  for (int i = first; i < first + count; ++i) {
    classes["cat"].push_back(i);
    classes["dog"].push_back(200 + i);
    classes["owl"].push_back(400 + i);
  }
  return classes;
}

// The photos without their classes.
InboxSnapshot unsorted(const std::string& content, const PhotosOfClasses& classes) {
  TrainingSnapshot made = made_snapshot(content, classes);
  return {content, std::move(made.photos), std::move(made.data.rows.features)};
}

LabelledExamples nothing_labelled() { return {Matrix<float>(), {}, 0}; }

std::shared_ptr<const TrainedModel> model_of(const ScratchFolder& folder, const PhotosOfClasses& classes) {
  ModelTrainer trainer(folder / "model.safetensors", 1);
  trainer.fit(made_snapshot("labelled", classes), {});
  return trainer.model();
}

std::size_t photos_in(const InboxView& view) {
  std::size_t photos = 0;
  for (const InboxGroup& group : view.groups) photos += group.photos.size();
  return photos;
}

TEST(Inbox, GroupsOnceAndKeepsGroupsWhilePhotosLeave) {
  Inbox inbox(1);
  EXPECT_EQ(inbox.view(), nullptr);
  EXPECT_FALSE(inbox.due("", 0));
  EXPECT_TRUE(inbox.due("a", 0));
  inbox.run(unsorted("a", three_looks(0, 30)), nullptr, nothing_labelled, {});
  EXPECT_FALSE(inbox.due("a", 0));
  EXPECT_TRUE(inbox.due("a", 1));
  const auto all = inbox.view();
  EXPECT_EQ(all->number, 1U);
  EXPECT_EQ(photos_in(*all), 90U);
  EXPECT_TRUE(all->groups.front().suggestion.empty());

  PhotosOfClasses fewer = three_looks(0, 30);
  fewer.erase("dog");
  // No progress is reported, so nothing is grouped anew.
  inbox.run(unsorted("b", fewer), nullptr, nothing_labelled, [](const Progress&) { return false; });
  EXPECT_EQ(photos_in(*inbox.view()), 60U);
  inbox.run(unsorted("a", three_looks(0, 30)), nullptr, nothing_labelled, [](const Progress&) { return false; });
  const auto back = inbox.view();
  EXPECT_EQ(back->number, 3U);
  ASSERT_EQ(back->groups.size(), all->groups.size());
  for (std::size_t g = 0; g < all->groups.size(); ++g) {
    EXPECT_EQ(back->groups[g].key, all->groups[g].key);
    EXPECT_EQ(back->groups[g].photos.size(), all->groups[g].photos.size());
  }
  inbox.run(unsorted("c", three_looks(0, 31)), nullptr, nothing_labelled, {});
  EXPECT_NE(inbox.view()->groups.front().key, all->groups.front().key);
}

TEST(Inbox, SuggestsTheClassesOfTheModel) {
  const ScratchFolder folder;
  PhotosOfClasses known = three_looks(50, 10);
  const auto model = model_of(folder, known);
  Inbox inbox(1);
  inbox.run(unsorted("a", three_looks(0, 30)), model, nothing_labelled, {});
  EXPECT_FALSE(inbox.due("a", model->number));
  const auto view = inbox.view();
  EXPECT_EQ(view->model, model->number);
  std::size_t right = 0;
  for (const InboxGroup& group : view->groups) {
    const int look = group.suggestion == "cat" ? 0 : group.suggestion == "dog" ? 2 : 4;
    for (const InboxPhoto& photo : group.photos) {
      const auto number = static_cast<int>(std::stoul(photo.id, nullptr, 16));
      if (!group.suggestion.empty() && number / 100 == look) ++right;
    }
  }
  EXPECT_GE(right, 85U);
}

TEST(Inbox, ChoosesWhatToLabelNext) {
  const ScratchFolder folder;
  Inbox inbox(1);
  inbox.run(unsorted("a", three_looks(0, 30)), nullptr, nothing_labelled, {});
  EXPECT_EQ(inbox.next(), nullptr);
  inbox.request_next();
  EXPECT_TRUE(inbox.due("a", 0));
  inbox.run(unsorted("a", three_looks(0, 30)), nullptr, nothing_labelled, {});
  EXPECT_FALSE(inbox.due("a", 0));
  const auto first = inbox.next();
  ASSERT_EQ(first->choices.size(), 20U);
  EXPECT_EQ(first->choices.front().reason, LabelReason::kTypical);
  EXPECT_GT(first->choices.front().stands_for, 0U);

  const auto model = model_of(folder, three_looks(50, 10));
  const auto labelled = [] { return std::move(made_snapshot("labelled", three_looks(50, 10)).data.rows); };
  inbox.run(unsorted("b", three_looks(0, 3)), model, labelled, {});
  EXPECT_EQ(inbox.next()->number, 2U);
  EXPECT_EQ(inbox.next()->choices.size(), 9U);
  inbox.run(unsorted("c", {}), model, labelled, {});
  EXPECT_TRUE(inbox.next()->choices.empty());
  EXPECT_TRUE(inbox.view()->groups.empty());
}

TEST(Inbox, CanBeCancelled) {
  Inbox inbox(1);
  expect_error(ErrorKind::kCancelled, "stopped", [&] {
    inbox.run(unsorted("a", three_looks(0, 30)), nullptr, nothing_labelled, [](const Progress&) { return false; });
  });
  EXPECT_EQ(inbox.view(), nullptr);
  EXPECT_TRUE(inbox.due("a", 0));
}

}  // namespace
}  // namespace annulus::studio
