// Unsorted photos over the routes: groups, suggestions, what to label next, Unknown, and undo.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "annulus/base/clock.h"
#include "tests/fixtures/asked_studio.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/tiny_studio.h"

namespace annulus::server {
namespace {

using Json = nlohmann::json;
using studio::photo_of;

Json get(AskedStudio& studio, const std::string& path) {
  Request request = asked("GET", path, {{"X-Annulus-Key", studio.key()}});
  const std::size_t query = path.find('?');
  if (query != std::string::npos) {
    request.path = path.substr(0, query);
    request.query["key"] = path.substr(path.find('=') + 1);
  }
  const Response response = studio.ask(std::move(request));
  EXPECT_EQ(response.status, 200) << path << response.body;
  return Json::parse(response.body);
}

Json upload(AskedStudio& studio, const std::string& name, const studio::Colour& colour, int first) {
  Json header = {{"class", name}, {"files", Json::array()}};
  std::string bytes;
  for (int number = first; number < first + 4; ++number) {
    const std::string photo = photo_of(colour, number);
    header["files"].push_back({"photo.webp", photo.size()});
    bytes += photo;
  }
  const Response response = studio.with_key("POST", "/api/photos", header.dump() + "\n" + bytes);
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body);
}

void change(AskedStudio& studio, const Json& body) {
  EXPECT_EQ(studio.with_key("POST", "/api/change", body.dump()).status, 200) << body;
}

bool comes(const std::function<bool()>& there) {
  for (const auto start = now(); seconds_since(start) < 60.0;) {
    if (there()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class StudioInboxTest : public NeedsOnnxRuntime {
 protected:
  ScratchFolder scratch_;
};

TEST_F(StudioInboxTest, PhotosAreGroupedSuggestedAndSorted) {
  AskedStudio studio(studio::write_tiny_backbone(scratch_));
  EXPECT_EQ(get(studio, "/api/inbox")["groups"], Json::array());
  EXPECT_EQ(get(studio, "/api/inbox/next")["photos"], Json::array());
  upload(studio, ".inbox", studio::kRed, 10);
  upload(studio, ".inbox", studio::kGreen, 10);
  EXPECT_EQ(upload(studio, "red", studio::kRed, 10)["photos"][0]["reason"], "the Inbox");
  ASSERT_TRUE(comes([&] { return get(studio, "/api/inbox")["ungrouped"] == 0; }));
  const Json before = get(studio, "/api/inbox");
  EXPECT_EQ(before["groups"][0]["suggestion"], "");
  EXPECT_EQ(before["expected"]["suggested"], 0);
  const Json state = get(studio, "/api/state")["inbox"];
  EXPECT_EQ(state["photos"], 8);
  EXPECT_EQ(state["sorted"], 0);
  EXPECT_EQ(state["waiting"], 0);

  upload(studio, "red", studio::kRed, 1);
  upload(studio, "green", studio::kGreen, 1);
  Json list;
  ASSERT_TRUE(comes([&] {
    list = get(studio, "/api/inbox");
    return list["expected"]["suggested"] == 8;
  })) << list;
  EXPECT_GT(list["expected"]["right"].get<double>(), 4.0);
  const std::string key = list["groups"][0]["key"];
  const std::string name = list["groups"][0]["suggestion"];
  EXPECT_EQ(list["groups"][0]["covers"].size(), list["groups"][0]["photos"].get<std::size_t>());
  const Json group = get(studio, "/api/inbox/group?key=" + key);
  EXPECT_EQ(group["suggestion"], name);
  EXPECT_EQ(group["likely"][0]["name"], name);
  Json ids = Json::array();
  for (const Json& photo : group["photos"]) {
    EXPECT_EQ(photo["name"], "photo.webp");
    EXPECT_GT(photo["sure"].get<double>(), 0.0);
    ids.push_back(photo["id"]);
  }
  change(studio, {{"action", "move"}, {"photos", ids}, {"to", name}});
  EXPECT_EQ(get(studio, "/api/state")["inbox"]["sorted"], ids.size());
  // At once, before anything is computed.
  EXPECT_EQ(get(studio, "/api/inbox/group?key=" + key)["photos"], Json::array());
  change(studio, {{"action", "undo"}});
  EXPECT_EQ(get(studio, "/api/state")["inbox"]["photos"], 8);
}

TEST_F(StudioInboxTest, WhatIsOfNoClassIsSetAside) {
  AskedStudio studio;
  const Json added = upload(studio, ".inbox", studio::kBlue, 1)["photos"];
  EXPECT_EQ(get(studio, "/api/inbox")["ungrouped"], 4);
  change(studio, {{"action", "add_class"}, {"name", "blue"}});
  change(studio, {{"action", "move"}, {"photos", {added[0]["id"]}}, {"to", ".unknown"}});
  const Json unknown = get(studio, "/api/inbox/group?key=unknown");
  ASSERT_EQ(unknown["photos"].size(), 1U);
  EXPECT_EQ(unknown["photos"][0]["id"], added[0]["id"]);
  EXPECT_EQ(unknown["likely"], Json::parse(R"([{"name": "blue", "probability": null}])"));
  EXPECT_EQ(get(studio, "/api/state")["inbox"]["unknown"], 1);
  EXPECT_EQ(get(studio, "/api/state")["classes"], 1);
  change(studio, {{"action", "move"}, {"photos", {added[0]["id"]}}, {"to", ".inbox"}});
  EXPECT_EQ(get(studio, "/api/state")["inbox"]["photos"], 4);
  EXPECT_EQ(studio.with_key("POST", "/api/change", R"({"action":"add_class","name":".inbox"})").status, 400);
}

TEST_F(StudioInboxTest, SaysWhatToLabelNext) {
  AskedStudio studio(studio::write_tiny_backbone(scratch_));
  upload(studio, ".inbox", studio::kRed, 1);
  upload(studio, ".inbox", studio::kGreen, 1);
  Json next;
  ASSERT_TRUE(comes([&] {
    next = get(studio, "/api/inbox/next");
    return next["ready"] == true && !next["photos"].empty();
  }));
  EXPECT_EQ(next["photos"].size(), 8U);
  EXPECT_EQ(next["photos"][0]["reason"], "typical");
  const std::string key = next["photos"][0]["group"];
  const Json group = get(studio, "/api/inbox/group?key=" + key);
  bool there = false;
  for (const Json& photo : group["photos"]) there = there || photo["id"] == next["photos"][0]["id"];
  EXPECT_TRUE(there);
}

}  // namespace
}  // namespace annulus::server
