// Photos that wait for features, get them or an error, and are found in the cache.
#include "studio_engine/feature_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "annulus/base/error.h"
#include "annulus/pipeline/encode.h"
#include "annulus/store/images/image_file.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/tiny_studio.h"

namespace annulus::studio {
namespace {

class FeatureQueueTest : public NeedsOnnxRuntime {
 protected:
  template <class Changer>
  auto change(SharedProject& project, FeatureQueue& queue, const Changer& changer) {
    return project.change([&](Project& there) {
      auto result = changer(there);
      queue.follow(there.state());
      return result;
    });
  }
  std::vector<AddedPhoto> add(SharedProject& project, FeatureQueue& queue, const std::string& name,
                              const Colour& colour, const std::vector<int>& numbers) {
    return change(project, queue, [&](Project& there) { return add_photos(there, name, colour, numbers); });
  }

  ScratchFolder folder_;
};

TEST_F(FeatureQueueTest, ComputesTheFeaturesOfPhotos) {
  SharedProject project(tiny_project(folder_));
  FeatureQueue queue(project, folder_ / "cache", 1);
  const auto red = add(project, queue, "red", kRed, {1, 2, 3});
  add(project, queue, "green", kGreen, {1, 2});
  EXPECT_EQ(queue.waiting(), 5U);
  EXPECT_EQ(queue.usable().content, "");
  EXPECT_EQ(queue.encoder(), nullptr);
  queue.open({});
  ASSERT_NE(queue.encoder(), nullptr);
  expect_error(ErrorKind::kCancelled, "no features yet", [&] { queue.snapshot(); });
  const QueueProgress progress = queue.encode_block();
  EXPECT_EQ(progress.done, 5U);
  EXPECT_EQ(progress.total, 5U);
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_EQ(queue.usable().classes, 2U);

  const TrainingSnapshot snapshot = queue.snapshot();
  EXPECT_EQ(snapshot.content, queue.usable().content);
  EXPECT_EQ(snapshot.data.class_names, (std::vector<std::string>{"green", "red"}));
  ASSERT_EQ(snapshot.photos.size(), 5U);
  EXPECT_EQ(snapshot.photos[2], red[0].id);
  EXPECT_EQ(snapshot.data.rows.labels, (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
  const auto path = project.read([&](const Project& there) { return there.path_of(there.state().photo(red[0].id)); });
  const auto expected = encode_image(load_image_bytes(path, 1 << 20), "it", *queue.encoder());
  ASSERT_EQ(expected.size(), 5U);
  for (std::size_t d = 0; d < expected.size(); ++d) {
    EXPECT_EQ(snapshot.data.rows.features(2, d), expected[d]);
  }
}

TEST_F(FeatureQueueTest, FollowsChangesAndUndo) {
  SharedProject project(tiny_project(folder_));
  FeatureQueue queue(project, folder_ / "cache", 1);
  add(project, queue, "red", kRed, {1, 2});
  const auto green = add(project, queue, "green", kGreen, {1});
  queue.open({});
  encode_all(queue);
  const std::string before = queue.usable().content;
  const std::string ids[] = {green[0].id};
  change(project, queue, [&](Project& there) { return there.move_photos(ids, "red"), 0; });
  EXPECT_NE(queue.usable().content, before);
  EXPECT_EQ(queue.usable().classes, 1U);
  EXPECT_EQ(queue.snapshot().project_classes, std::set<std::string>{"red"});  // green went with its last photo
  EXPECT_EQ(queue.snapshot().data.class_names, (std::vector<std::string>{"red"}));
  change(project, queue, [](Project& there) { return there.undo(); });
  EXPECT_EQ(queue.usable().content, before);
  EXPECT_EQ(queue.waiting(), 0U);  // a photo that is put back still has its features
}

TEST_F(FeatureQueueTest, FindsFeaturesInTheCache) {
  SharedProject project(tiny_project(folder_));
  std::string content;
  {
    FeatureQueue queue(project, folder_ / "cache", 1);
    add(project, queue, "red", kRed, {1, 2});
    queue.open({});
    encode_all(queue);
    content = queue.usable().content;
  }
  FeatureQueue queue(project, folder_ / "cache", 1);
  project.read([&](const Project& there) { queue.follow(there.state()); });
  EXPECT_EQ(queue.waiting(), 2U);
  queue.open({});
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_EQ(queue.usable().content, content);
}

TEST_F(FeatureQueueTest, SaysWhichPhotosCannotBeDecoded) {
  SharedProject project(tiny_project(folder_));
  FeatureQueue queue(project, folder_ / "cache", 1);
  add(project, queue, "red", kRed, {1});
  const std::string text = "\x89PNG\r\n\x1a\nno picture";
  const NewPhoto broken[] = {{std::as_bytes(std::span(text)), "broken.png"}};
  const auto added = change(project, queue, [&](Project& there) { return there.add_photos("red", broken); });
  queue.open({});
  encode_all(queue);
  EXPECT_EQ(queue.failed(), std::vector<std::string>{added[0].id});
  EXPECT_NE(queue.error_of(added[0].id), "");
  EXPECT_EQ(queue.snapshot().photos.size(), 1U);
  // Photos in the trash do not count.
  const std::string ids[] = {added[0].id};
  change(project, queue, [&](Project& there) { return there.remove_photos(ids), 0; });
  EXPECT_TRUE(queue.failed().empty());
  change(project, queue, [](Project& there) { return there.undo(); });
  EXPECT_EQ(queue.waiting(), 0U);
  queue.retry();
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_EQ(queue.error_of(added[0].id), "");
}

TEST_F(FeatureQueueTest, PhotosMayComeAndGoWhileItWorks) {
  SharedProject project(tiny_project(folder_));
  FeatureQueue queue(project, folder_ / "cache", 2);
  add(project, queue, "red", kRed, {0});
  queue.open({});
  std::atomic<bool> done{false};
  std::thread worker([&] {
    while (!done || queue.waiting() > 0) {
      queue.encode_block();
      try {
        const TrainingSnapshot snapshot = queue.snapshot();
        EXPECT_EQ(snapshot.photos.size(), snapshot.data.rows.features.rows());
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
      }
    }
  });
  for (int i = 1; i <= 20; ++i) {
    const auto added = add(project, queue, "red", kRed, {i});
    const std::string ids[] = {added[0].id};
    if (i % 2 == 0) change(project, queue, [&](Project& there) { return there.move_photos(ids, "blue"), 0; });
    if (i % 5 == 0) change(project, queue, [&](Project& there) { return there.remove_photos(ids), 0; });
  }
  done = true;
  worker.join();
  EXPECT_TRUE(queue.failed().empty());
  EXPECT_EQ(queue.snapshot().photos.size(), 17U);
  EXPECT_EQ(queue.usable().classes, 2U);
}

TEST_F(FeatureQueueTest, PhotosOfClassesComeBeforeThoseOfTheInbox) {
  SharedProject project(tiny_project(folder_));
  FeatureQueue queue(project, folder_ / "cache", 1);
  const auto loose = add(project, queue, kInbox, kBlue, {1, 2, 3});
  add(project, queue, "red", kRed, {1});
  add(project, queue, "green", kGreen, {1});
  EXPECT_EQ(queue.waiting(), 2U);
  EXPECT_EQ(queue.waiting_inbox(), 3U);
  queue.open({});
  queue.encode_block();
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_EQ(queue.waiting_inbox(), 3U);
  EXPECT_EQ(queue.usable().classes, 2U);
  EXPECT_EQ(queue.usable().inbox, "");
  expect_error(ErrorKind::kCancelled, "no features yet", [&] { queue.inbox_snapshot(); });
  const QueueProgress progress = queue.encode_block();
  EXPECT_EQ(progress.done, 5U);
  EXPECT_EQ(progress.total, 5U);
  const InboxSnapshot snapshot = queue.inbox_snapshot();
  EXPECT_EQ(snapshot.content, queue.usable().inbox);
  EXPECT_EQ(snapshot.photos.size(), 3U);
  EXPECT_EQ(snapshot.features.rows(), 3U);
  EXPECT_EQ(queue.snapshot().photos.size(), 2U);
  const std::string ids[] = {loose[0].id};
  change(project, queue, [&](Project& there) { return there.move_photos(ids, "red"), 0; });
  EXPECT_EQ(queue.inbox_snapshot().photos.size(), 2U);
  EXPECT_EQ(queue.snapshot().photos.size(), 3U);
  EXPECT_EQ(queue.waiting(), 0U);
}

}  // namespace
}  // namespace annulus::studio
