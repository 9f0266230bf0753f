// The parts together: photos in, a model out, changes, undo, errors, another start.
#include "studio_engine/studio.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "annulus/base/clock.h"
#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/project_photos.h"
#include "tests/fixtures/tiny_studio.h"

namespace annulus::studio {
namespace {

// Waits for what the worker is to bring about.
bool comes(const std::function<bool()>& there) {
  for (const auto start = now(); seconds_since(start) < 60.0;) {
    if (there()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

class StudioTest : public NeedsOnnxRuntime {
 protected:
  StudioOptions options() {
    StudioOptions result;
    result.project = folder_ / "project";
    result.cache = folder_ / "cache";
    result.threads = 2;
    result.id = "first";
    return result;
  }
  static void teach(Studio& studio) {
    studio.change([](Project& project) {
      add_photos(project, "red", kRed, {1, 2, 3, 4});
      add_photos(project, "green", kGreen, {1, 2, 3, 4});
    });
  }
  static std::string label(const Studio& studio, const Colour& colour) {
    const std::string photo = photo_of(colour, 99);
    const auto [model, prediction] = studio.predict(std::as_bytes(std::span(photo)));
    return model->model.class_names[static_cast<std::size_t>(prediction.top.front().index)];
  }

  ScratchFolder folder_;
};

TEST_F(StudioTest, ModelAndFindingsFollowThePhotos) {
  tiny_project(folder_);
  std::atomic<int> told{0};
  Studio studio(options(), [&] { ++told; });
  EXPECT_EQ(studio.id(), "first");
  expect_error(ErrorKind::kInput, "no model yet", [&] { studio.predict({}); });
  expect_error(ErrorKind::kInput, "no model yet", [&] { studio.export_as(ExportKind::kModel); });
  teach(studio);
  ASSERT_TRUE(comes([&] { return studio.status().model_current; })) << studio.status().work.error;
  EXPECT_GT(told, 2);
  EXPECT_FALSE(studio.model()->incremental);
  EXPECT_EQ(label(studio, kRed), "red");
  EXPECT_EQ(label(studio, kGreen), "green");

  // One photo more is an update, and a fit follows when it is quiet.
  const std::uint64_t number = studio.model()->number;
  studio.change([](Project& project) { add_photos(project, "red", kRed, {5}); });
  EXPECT_FALSE(studio.status().model_current);
  ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
  EXPECT_TRUE(studio.model()->incremental);
  EXPECT_EQ(studio.model()->number, number + 1);
  ASSERT_TRUE(comes([&] { return studio.status().model_current && !studio.model()->incremental; }));

  studio.request_analysis();
  ASSERT_TRUE(comes([&] { return studio.status().analysis_current; }));
  EXPECT_EQ(studio.map()->photos.size(), 9U);
  EXPECT_EQ(studio.findings()->photos, studio.map());
  EXPECT_TRUE(studio.export_as(ExportKind::kReport).starts_with("<!"));
  EXPECT_NE(studio.export_as(ExportKind::kCard).find("red"), std::string::npos);
  EXPECT_FALSE(studio.export_as(ExportKind::kModel).empty());
  EXPECT_FALSE(studio.export_as(ExportKind::kOnnx).empty());
  ASSERT_TRUE(comes([&] { return studio.status().work.stage == Stage::kIdle; }));
}

TEST_F(StudioTest, UndoLeadsBackToTheModelOfTheFit) {
  tiny_project(folder_);
  Studio studio(options(), [] {});
  teach(studio);
  ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
  const auto fitted = studio.model();
  studio.change([](Project& project) { add_photos(project, "green", kGreen, {5}); });
  ASSERT_TRUE(comes([&] { return studio.status().model_current && studio.model()->incremental; }));
  studio.change([](Project& project) { project.undo(); });
  ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
  EXPECT_EQ(studio.model(), fitted);
}

TEST_F(StudioTest, AnotherStartHasTheModelAtOnce) {
  tiny_project(folder_);
  {
    Studio studio(options(), [] {});
    teach(studio);
    ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
    studio.stop();
  }
  Studio studio(options(), [] {});
  ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
  EXPECT_EQ(studio.model()->number, 1U);
  EXPECT_FALSE(studio.model()->incremental);
  EXPECT_EQ(label(studio, kGreen), "green");
}

TEST_F(StudioTest, ChangesComeBeforeAFit) {
  tiny_project(folder_);
  Studio studio(options(), [] {});
  teach(studio);
  // Requests and changes from several threads while the worker is busy.
  std::vector<std::thread> threads;
  std::atomic<bool> done{false};
  threads.emplace_back([&] {
    while (!done) {
      studio.status();
      studio.failed();
      studio.request_analysis();
    }
  });
  threads.emplace_back([&] {
    for (int i = 10; i < 20; ++i) studio.change([&](Project& project) { add_photos(project, "blue", kBlue, {i}); });
    for (int i = 0; i < 4; ++i) studio.change([](Project& project) { project.undo(); });
  });
  threads[1].join();
  done = true;
  threads[0].join();
  ASSERT_TRUE(comes([&] { return studio.status().model_current && studio.status().analysis_current; }));
  EXPECT_EQ(studio.map()->photos.size(), 14U);
  EXPECT_EQ(label(studio, kBlue), "blue");
}

TEST_F(StudioTest, SaysWhatFailedAndTriesAgain) {
  Project::create(folder_ / "project", (folder_ / "tiny.onnx").string());
  Studio studio(options(), [] {});
  teach(studio);
  ASSERT_TRUE(comes([&] { return !studio.status().work.error.empty(); }));
  EXPECT_EQ(studio.status().work.stage, Stage::kIdle);
  EXPECT_EQ(studio.status().waiting, 8U);
  write_tiny_backbone(folder_);
  studio.retry();
  ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
  EXPECT_EQ(studio.status().work.error, "");
}

TEST_F(StudioTest, AChangeThatFailsIsFollowedToo) {
  tiny_project(folder_);
  Studio studio(options(), [] {});
  const std::uint64_t version = studio.status().version;
  expect_error(ErrorKind::kUsage, "nothing to undo", [&] { studio.change([](Project& project) { project.undo(); }); });
  EXPECT_GT(studio.status().version, version);
}

TEST_F(StudioTest, StopsInTheMiddleOfWork) {
  tiny_project(folder_);
  for (int i = 0; i < 5; ++i) {
    Studio studio(options(), [] {});
    if (i == 0) teach(studio);
    studio.request_analysis();
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * i));
    studio.stop();
  }
}

TEST_F(StudioTest, TheInboxIsGroupedAndFollowsTheModel) {
  tiny_project(folder_);
  Studio studio(options(), [] {});
  studio.change([](Project& project) {
    add_photos(project, kInbox, kRed, {11, 12, 13, 14, 15, 16});
    add_photos(project, kInbox, kGreen, {11, 12, 13, 14, 15, 16});
  });
  const auto grouped = [&](bool suggested) {
    const auto view = studio.inbox();
    return view && !view->groups.empty() && view->groups.front().suggestion.empty() != suggested;
  };
  ASSERT_TRUE(comes([&] { return grouped(false); })) << studio.status().work.error;
  EXPECT_EQ(studio.model(), nullptr);
  EXPECT_EQ(studio.next(), nullptr);
  studio.request_next();
  ASSERT_TRUE(comes([&] { return studio.next() && !studio.next()->choices.empty(); }));
  teach(studio);
  ASSERT_TRUE(comes([&] { return grouped(true); }));
  const auto view = studio.inbox();
  std::vector<std::string> ids;
  for (const InboxPhoto& photo : view->groups.front().photos) ids.push_back(photo.id);
  const std::string name = view->groups.front().suggestion;
  studio.change([&](Project& project) { project.move_photos(ids, name); });
  ASSERT_TRUE(comes([&] { return studio.status().model_current && studio.inbox()->number > view->number; }));
  studio.change([](Project& project) { project.undo(); });
  EXPECT_EQ(studio.read([](const Project& project) { return project.state().inbox().size(); }), 12U);
  ASSERT_TRUE(comes([&] { return studio.status().model_current; }));
}

}  // namespace
}  // namespace annulus::studio
