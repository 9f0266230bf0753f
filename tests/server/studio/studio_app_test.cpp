// Nothing without the key, nothing outside of a project, and one project after the other.
#include "server/studio/studio_app.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studio_engine/project/project.h"
#include "tests/fixtures/asked_studio.h"

namespace annulus::server {
namespace {

using studio::Project;

TEST(StudioApp, TellsNothingWithoutTheKey) {
  AskedStudio studio;
  for (const char* path : {"/", "/studio.js", "/studio.css", "/api/events", "/api/state", "/api/classes", "/api/photos",
                           "/api/thumbnail/0123456789abcdef", "/api/covers/0123456789abcdef", "/api/analysis",
                           "/api/map", "/api/export/model", "/api/projects", "/api/projects/rename",
                           "/api/projects/delete", "/api/findings/confirm", "/nothing"}) {
    for (const char* method : {"GET", "HEAD", "POST", "PUT", "DELETE"}) {
      const Response answer = studio.ask(asked(method, path));
      EXPECT_EQ(answer.status, 401) << method << path;
      EXPECT_EQ(answer.body.find("project\""), std::string::npos);
      EXPECT_FALSE(answer.stream);
    }
  }
  const auto before = studio.with_key("GET", "/api/state");
  EXPECT_EQ(before.status, 200);
  EXPECT_EQ(nlohmann::json::parse(before.body)["project"], "project");
  EXPECT_EQ(studio.ask(asked("POST", "/api/change", {}, R"({"action":"add_class","name":"a"})")).status, 401);
  EXPECT_EQ(nlohmann::json::parse(studio.with_key("GET", "/api/state").body)["classes"], 0);
}

TEST(StudioApp, TheAddressWithTheKeyGivesACookie) {
  AskedStudio studio;
  Request request = asked("GET", "/");
  request.query["key"] = studio.key();
  const Response answer = studio.ask(std::move(request));
  EXPECT_EQ(answer.status, 303);
  std::string cookie;
  for (const auto& [name, value] : answer.headers) {
    if (name == "Set-Cookie") cookie = value;
  }
  EXPECT_NE(cookie.find("HttpOnly"), std::string::npos);
  EXPECT_NE(cookie.find("SameSite=Strict"), std::string::npos);
  EXPECT_EQ(studio.ask(asked("GET", "/api/state", {{"Cookie", cookie.substr(0, cookie.find(';'))}})).status, 200);
  Request wrong = asked("GET", "/");
  wrong.query["key"] = studio.key().substr(1);
  EXPECT_EQ(studio.ask(std::move(wrong)).status, 401);
}

TEST(StudioApp, NoNameLeadsOutOfTheProject) {
  AskedStudio studio;
  for (const char* path : {"/api/thumbnail/../../secret.json", "/api/thumbnail/secret.json", "/api/thumbnail/..",
                           "/api/covers/..,../../secret.json", "/api/covers/secret.json", "/api/export/..",
                           "/api/export/../../secret.json", "/secret.json", "/../secret.json"}) {
    const Response answer = studio.with_key("GET", path);
    EXPECT_GE(answer.status, 400) << path;
    EXPECT_EQ(answer.body.find("a secret"), std::string::npos);
  }
  for (const char* name : {"..", "../x", "a/b", "/etc", ".hidden", "", "a\\b"}) {
    const nlohmann::json text = name;
    EXPECT_EQ(studio.with_key("POST", "/api/projects", R"({"new":true,"name":)" + text.dump() + "}").status, 400);
    EXPECT_EQ(studio.with_key("POST", "/api/change", R"({"action":"add_class","name":)" + text.dump() + "}").status,
              400);
    EXPECT_EQ(studio.with_key("POST", "/api/photos", "{\"class\":" + text.dump() + ",\"files\":[]}\n").status, 400);
  }
  // A photo goes where its bytes say, whatever its file was called.
  const std::string png("\x89PNG\r\n\x1a\n0000", 12);
  const Response added =
      studio.with_key("POST", "/api/photos", "{\"class\":\"owl\",\"files\":[[\"../../../escaped.png\",12]]}\n" + png);
  EXPECT_EQ(added.status, 200);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(studio.folder() / "")) {
    EXPECT_EQ(entry.path().filename().string().find("escaped"), std::string::npos);
    files += entry.path().extension() == ".png" ? 1U : 0U;
  }
  EXPECT_EQ(files, 1U);
}

TEST(StudioApp, TheStateHasTheNotice) {
  AskedStudio studio("no-such-backbone", "another network was asked for");
  const auto state = nlohmann::json::parse(studio.with_key("GET", "/api/state").body);
  EXPECT_EQ(state["notice"], "another network was asked for");
  EXPECT_EQ(state["project"], "project");
}

TEST(StudioApp, ChangesAreForTheProjectThatTheyName) {
  AskedStudio studio;
  const auto state = [&] { return nlohmann::json::parse(studio.with_key("GET", "/api/state").body); };
  const auto add_class = [&](nlohmann::json json, const char* name) {
    json["action"] = "add_class";
    json["name"] = name;
    return studio.with_key("POST", "/api/change", json.dump()).status;
  };
  const std::string png("\x89PNG\r\n\x1a\n0000", 12);
  const auto add_photo = [&](nlohmann::json json) {
    json["class"] = "owl";
    json["files"] = nlohmann::json::array({nlohmann::json::array({"a.png", png.size()})});
    return studio.with_key("POST", "/api/photos", json.dump() + "\n" + png).status;
  };
  const nlohmann::json first = {{"project", state()["id"]}};
  EXPECT_EQ(add_class(first, "a"), 200);
  EXPECT_EQ(studio.with_key("POST", "/api/projects", R"({"new":true,"name":"other"})").status, 200);
  const nlohmann::json second = {{"project", state()["id"]}};
  EXPECT_NE(first, second);
  EXPECT_EQ(add_class(first, "b"), 409);
  EXPECT_EQ(add_photo(first), 409);
  EXPECT_EQ(add_class({{"project", 7}}, "b"), 400);
  EXPECT_EQ(state()["revision"], 0);
  EXPECT_EQ(add_class(second, "b"), 200);
  EXPECT_EQ(add_photo(second), 200);
  EXPECT_EQ(add_class(nlohmann::json::object(), "c"), 200);
  EXPECT_EQ(state()["revision"], 3);
}

// The work under way shares the studio with those who ask: nobody may be left to destroy it but them.
TEST(StudioApp, OpensOneProjectAfterTheOtherWhileTellingOfWork) {
  struct Listener : EventStream {
    bool send(std::string_view, std::string_view data) override {
      const auto id = nlohmann::json::parse(data)["id"].get<std::string>();
      const std::lock_guard lock(mutex);
      if (told.empty() || told.back() != id) told.push_back(id);
      return true;
    }
    bool connected() const override { return true; }
    void close() override {}
    std::mutex mutex;
    std::vector<std::string> told;  // ids, each time another one came
  };
  const auto listener = std::make_shared<Listener>();
  {
    AskedStudio studio;
    studio.with_key("GET", "/api/events").stream(listener);
    for (int i = 0; i < 12; ++i) {
      const nlohmann::json made = {{"new", true}, {"name", "project " + std::to_string(i)}};
      EXPECT_EQ(studio.with_key("POST", "/api/projects", made.dump()).status, 200);
      // The backbone cannot be had: the worker tells of that while the next project is opened.
      const std::string png = "\x89PNG\r\n\x1a\n" + std::to_string(1000 + i);
      EXPECT_EQ(studio.with_key("POST", "/api/photos", "{\"class\":\"owl\",\"files\":[[\"a\",12]]}\n" + png).status,
                200);
    }
  }
  EXPECT_EQ(listener->told.size(), 13U);  // no state of a project that another one has followed
}

TEST(StudioApp, TwoClicksOnAProjectOpenItOnce) {
  AskedStudio studio;
  for (int round = 0; round < 4; ++round) {
    const std::string name = "project " + std::to_string(round);
    Project::create(studio.folder() / ("home/" + name), "no-such-backbone");
    const std::string body = nlohmann::json{{"name", name}}.dump();
    std::vector<std::future<Response>> clicks;
    for (int i = 0; i < 3; ++i) clicks.push_back(studio.asking("POST", "/api/projects", body));
    for (auto& click : clicks) {
      const Response answer = click.get();
      EXPECT_EQ(answer.status, 200) << answer.body;
    }
    EXPECT_EQ(nlohmann::json::parse(studio.with_key("GET", "/api/state").body)["project"], name);
  }
}

// What one project was asked for last does not keep it from being opened again.
TEST(StudioApp, GoesToAnotherProjectAndBack) {
  AskedStudio studio;
  Project::create(studio.folder() / "home/other", "no-such-backbone");
  for (int round = 0; round < 20; ++round) {
    for (const char* name : {"other", "project"}) {
      const Response answer = studio.with_key("POST", "/api/projects", nlohmann::json{{"name", name}}.dump());
      ASSERT_EQ(answer.status, 200) << answer.body;
    }
  }
}

TEST(StudioApp, RenamesTheOpenProjectAndOthers) {
  AskedStudio studio;
  Project::create(studio.folder() / "home/other", "no-such-backbone");
  const auto state = [&] { return nlohmann::json::parse(studio.with_key("GET", "/api/state").body); };
  const auto rename = [&](const char* name, const char* to) {
    return studio.with_key("POST", "/api/projects/rename", nlohmann::json{{"name", name}, {"to", to}}.dump());
  };
  studio.with_key("POST", "/api/change", R"({"action":"add_class","name":"owl"})");
  const auto id = state()["id"];
  EXPECT_EQ(rename("other", "another").status, 200);
  EXPECT_EQ(state()["id"], id);
  EXPECT_EQ(rename("project", "birds").status, 200);
  EXPECT_EQ(state()["project"], "birds");
  EXPECT_EQ(state()["classes"], 1);
  EXPECT_NE(state()["id"], id);
  EXPECT_EQ(nlohmann::json::parse(studio.with_key("GET", "/api/projects").body)["projects"],
            (nlohmann::json{"another", "birds"}));
  // What cannot be done leaves the project open.
  const Response taken = rename("birds", "another");
  EXPECT_EQ(taken.status, 400);
  EXPECT_NE(taken.body.find("choose another name"), std::string::npos);
  EXPECT_EQ(state()["project"], "birds");
  for (const char* name : {"..", "a/b", ".x", ""}) {
    EXPECT_EQ(rename("birds", name).status, 400) << name;
    EXPECT_EQ(rename(name, "x").status, 400) << name;
  }
  EXPECT_EQ(state()["project"], "birds");
}

TEST(StudioApp, DeletesTheOpenProjectAndOthers) {
  AskedStudio studio;
  Project::create(studio.folder() / "home/other", "no-such-backbone");
  const auto state = [&] { return nlohmann::json::parse(studio.with_key("GET", "/api/state").body); };
  const auto remove = [&](const char* name) {
    return studio.with_key("POST", "/api/projects/delete", nlohmann::json{{"name", name}}.dump());
  };
  const Response removed = remove("project");
  ASSERT_EQ(removed.status, 200) << removed.body;
  EXPECT_EQ(nlohmann::json::parse(removed.body)["kept"], studio.folder() / "home/.deleted/project");
  EXPECT_EQ(state()["project"], "other");
  EXPECT_EQ(remove("other").status, 200);
  EXPECT_EQ(state()["project"], "my-photos");  // the last one makes room for an empty one
  EXPECT_EQ(state()["photos"], 0);
  EXPECT_EQ(remove("other").status, 400);
  EXPECT_EQ(remove("../secret.json").status, 400);
  EXPECT_TRUE(Project::exists(studio.folder() / "home/.deleted/other"));
}

// Requests to the project that is being moved wait for nothing and fail with a sentence, or reach it before or after.
TEST(StudioApp, RenamesWhileItIsAsked) {
  AskedStudio studio;
  for (int round = 0; round < 10; ++round) {
    const nlohmann::json rename = {{"name", round % 2 == 0 ? "project" : "b"},
                                   {"to", round % 2 == 0 ? "b" : "project"}};
    std::vector<std::future<Response>> asked;
    asked.push_back(studio.asking("GET", "/api/classes", {}));
    auto renamed = studio.asking("POST", "/api/projects/rename", rename.dump());
    for (int i = 0; i < 4; ++i) asked.push_back(studio.asking("GET", "/api/state", {}));
    EXPECT_EQ(renamed.get().status, 200);
    for (auto& answer : asked) {
      const int status = answer.get().status;
      EXPECT_TRUE(status == 200 || status == 503) << status;
    }
  }
}

TEST(StudioApp, MakesAProjectWhereOneWasKilledWhileItWasMade) {
  AskedStudio studio;
  const std::filesystem::path half = studio.folder() / "home/half";
  std::filesystem::create_directories(half);
  std::ofstream(half / ".project.json.123.0.tmp") << "{";
  const std::string body = R"({"new":true,"name":"half"})";
  EXPECT_EQ(studio.with_key("POST", "/api/projects", body).status, 200);
  const Response again = studio.with_key("POST", "/api/projects", body);
  EXPECT_EQ(again.status, 400);
  EXPECT_NE(again.body.find("already"), std::string::npos);
}

}  // namespace
}  // namespace annulus::server
