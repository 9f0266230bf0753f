// Versions of the status, and who is told of them.
#include "studio_engine/event_hub.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace annulus::studio {
namespace {

TEST(EventHub, TellsOfEveryVersion) {
  std::vector<std::uint64_t> told;
  std::optional<EventHub> hub;
  hub.emplace([&] { told.push_back(hub->current().version); });  // the listener may ask the hub
  hub->publish({Stage::kBackbone, 0, 0, "mobilenet"});
  hub->notify();
  hub->publish({});
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(EventHub, ReplacesTheStatus) {
  EventHub hub([] {});
  WorkStatus failed;
  failed.error = "no network";
  hub.publish(failed);
  hub.notify();
  EXPECT_EQ(hub.current().status.error, "no network");
  hub.publish({Stage::kFit, 2, 5});
  EXPECT_EQ(hub.current().status.error, "");
  EXPECT_EQ(hub.current().status.done, 2U);
  EXPECT_EQ(hub.current().status.total, 5U);
}

TEST(EventHub, ClearsNothingButTheError) {
  int told = 0;
  EventHub hub([&] { ++told; });
  hub.publish({Stage::kFeatures, 1, 2, "a detail", "an error"});
  hub.clear_error();
  EXPECT_EQ(told, 2);
  EXPECT_EQ(hub.current().status.error, "");
  EXPECT_EQ(hub.current().status.stage, Stage::kFeatures);
  EXPECT_EQ(hub.current().status.detail, "a detail");
}

TEST(EventHub, ProgressOfOneStageIsToldNowAndThen) {
  int told = 0;
  EventHub hub([&] { ++told; });
  for (std::size_t done = 0; done < 1000; ++done) hub.publish_progress({Stage::kFit, done, 1000});
  EXPECT_GE(told, 1);
  EXPECT_LT(told, 1000);
  EXPECT_EQ(hub.current().status.stage, Stage::kFit);
  const int before = told;
  hub.publish_progress({Stage::kAnalysis, 1, 10});
  EXPECT_EQ(told, before + 1);
  EXPECT_EQ(hub.current().status.stage, Stage::kAnalysis);
}

TEST(EventHub, NamesItsStages) {
  EXPECT_EQ(to_string(Stage::kIdle), "");
  EXPECT_EQ(to_string(Stage::kUpdate), "update");
  EXPECT_EQ(to_string(Stage::kAnalysis), "analysis");
  EXPECT_EQ(to_string(Stage::kGroups), "inbox");
}

}  // namespace
}  // namespace annulus::studio
