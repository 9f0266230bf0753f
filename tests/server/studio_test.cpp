// Who may ask the studio, what uploads must look like, and that nothing outside of a project can be reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/project.h"
#include "annulus/vision/thumbnail.h"
#include "server/studio_api.h"
#include "server/studio_app.h"
#include "tests/server/running_server.h"

namespace annulus::server {
namespace {

TEST(StudioUpload, TakesPhotosOneAfterTheOther) {
  const std::string body = "{\"class\":\"owl\",\"files\":[[\"a.png\",3],[\"empty\",0],[\"b.png\",2]]}\n123\n5";
  const Upload upload = parse_upload(body);
  EXPECT_EQ(upload.class_name, "owl");
  ASSERT_EQ(upload.photos.size(), 3U);
  EXPECT_EQ(upload.photos[0].name, "a.png");
  EXPECT_EQ(upload.photos[0].bytes.size(), 3U);
  EXPECT_EQ(upload.photos[1].bytes.size(), 0U);
  EXPECT_EQ(static_cast<char>(upload.photos[2].bytes[1]), '5');
}

TEST(StudioUpload, RefusesWhatDoesNotAddUp) {
  const std::string whole = "{\"class\":\"owl\",\"files\":[[\"a.png\",3]]}\n123";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse_upload(whole.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(parse_upload(whole + "4"), Error);
  for (const char* files : {"[[\"a\",-1]]", "[[\"a\",3.0]]", "[[\"a\",1e300]]", "[[\"a\",18446744073709551615]]",
                            "[[\"a\",\"3\"]]", "[[3,3]]", "[[]]", "[3]", "{}", "null", "[[\"a\",2],[\"b\",2]]"}) {
    EXPECT_THROW(parse_upload(std::string("{\"class\":\"owl\",\"files\":") + files + "}\n123"), Error) << files;
  }
  for (const char* line : {"", "[]", "owl", "{\"class\":1,\"files\":[]}", "{\"files\":[]}", "{\"class\":\"owl\"}"}) {
    EXPECT_THROW(parse_upload(std::string(line) + "\n"), Error) << line;
  }
  EXPECT_THROW(parse_upload(std::string(std::size_t{5} << 20, '[') + "\n"), Error);
}

constexpr const char* kKey = "0123456789abcdef0123456789abcdef";

Request asked(const std::string& method, const std::string& path, Headers headers = {}, std::string body = {}) {
  Request request;
  request.method = method;
  request.path = path;
  request.headers = std::move(headers);
  request.headers.emplace("Host", "127.0.0.1:8080");
  request.body = std::move(body);
  return request;
}

int refusal(Headers headers, const std::string& path = "/api/state") {
  return refusal_of(asked("GET", path, std::move(headers)), kKey);
}

TEST(StudioGuard, OnlyTheKeyOpens) {
  const std::string key = kKey;
  EXPECT_EQ(refusal({{"X-Annulus-Key", key}}), 0);
  EXPECT_EQ(refusal({{"Cookie", "annulus_studio_8080=" + key}}), 0);
  EXPECT_EQ(refusal({{"Cookie", "a=b; annulus_studio_8080=" + key + "; c=d"}}), 0);
  for (const std::string& wrong : {std::string(), key.substr(1), key.substr(0, 31), key + "0", " " + key,
                                   std::string(32, '0'), std::string(32, '\0')}) {
    EXPECT_EQ(refusal({{"X-Annulus-Key", wrong}}), 401) << wrong;
    EXPECT_EQ(refusal({{"Cookie", "annulus_studio_8080=" + wrong}}), 401) << wrong;
  }
  // Another port's cookie, another name that ends alike, the name without a value, the key under no name.
  for (const std::string& cookie : {"annulus_studio_8081=" + key, "xannulus_studio_8080=" + key,
                                    std::string("annulus_studio_8080"), key, "annulus_studio_80800=" + key}) {
    EXPECT_EQ(refusal({{"Cookie", cookie}}), 401) << cookie;
  }
}

TEST(StudioGuard, PagesOfOtherOriginsStayOutside) {
  const std::pair<std::string, std::string> key{"X-Annulus-Key", kKey};
  EXPECT_EQ(refusal({key, {"Origin", "http://127.0.0.1:8080"}}), 0);
  EXPECT_EQ(refusal({key, {"Sec-Fetch-Site", "same-origin"}}), 0);
  for (const char* origin : {"http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://example.org", "null"}) {
    EXPECT_EQ(refusal({key, {"Origin", origin}}), 403) << origin;
  }
  for (const char* site : {"cross-site", "same-site", "anything"}) {
    EXPECT_EQ(refusal({key, {"Sec-Fetch-Site", site}}), 403) << site;
  }
  // A link elsewhere may lead to the page itself, but to nothing else.
  const Headers followed{key, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_EQ(refusal(followed, "/"), 0);
  EXPECT_EQ(refusal(followed), 403);
}

TEST(StudioGuard, KeysDiffer) {
  const std::string key = new_key();
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(key, new_key());
}

// A studio on an empty project, whose backbone cannot be had: nothing is computed.
class AskedStudio {
 public:
  AskedStudio() {
    Project::create(folder_ / "home/project", "no-such-backbone");
    std::ofstream(folder_ / "secret.json") << "a secret";
    StudioAppOptions options;
    options.home = folder_ / "home";
    options.project = folder_ / "home/project";
    options.backbone = "no-such-backbone";
    options.cache = folder_ / "cache";
    options.threads = 1;
    app_ = std::make_unique<StudioApp>(options);
  }

  std::future<Response> begin(Request request) {
    auto answer = std::make_shared<std::promise<Response>>();
    auto result = answer->get_future();
    app_->handle(std::move(request), [answer](Response response) { answer->set_value(std::move(response)); });
    return result;
  }
  Response ask(Request request) { return begin(std::move(request)).get(); }
  std::future<Response> asking(const std::string& method, const std::string& path, std::string body) {
    return begin(asked(method, path, {{"X-Annulus-Key", app_->key()}}, std::move(body)));
  }
  Response with_key(const std::string& method, const std::string& path, std::string body = {}) {
    return asking(method, path, std::move(body)).get();
  }
  const Folder& folder() const { return folder_; }
  const std::string& key() const { return app_->key(); }

 private:
  Folder folder_;
  std::unique_ptr<StudioApp> app_;
};

TEST(StudioApp, TellsNothingWithoutTheKey) {
  AskedStudio studio;
  for (const char* path : {"/", "/studio.js", "/studio.css", "/api/events", "/api/state", "/api/classes", "/api/photos",
                           "/api/thumbnail/0123456789abcdef", "/api/covers/0123456789abcdef", "/api/analysis",
                           "/api/map", "/api/export/model", "/api/projects", "/nothing"}) {
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

TEST(StudioApp, CoversAreOnePicture) {
  AskedStudio studio;
  std::vector<std::string> photos = {std::string("\x89PNG\r\n\x1a\n0000", 12)};  // nothing that can be decoded
  for (const std::uint8_t grey : {std::uint8_t{40}, std::uint8_t{200}}) {
    Image image = make_image(64, 32);
    std::fill_n(image.pixels.get(), 3 * 64 * 32, grey);
    photos.push_back(thumbnail_webp(image, 64));
  }
  nlohmann::json header = {{"class", "owl"}, {"files", nlohmann::json::array()}};
  std::string bytes;
  for (const std::string& photo : photos) {
    header["files"].push_back({"a photo", photo.size()});
    bytes += photo;
  }
  const Response added = studio.with_key("POST", "/api/photos", header.dump() + "\n" + bytes);
  ASSERT_EQ(added.status, 200) << added.body;
  const auto listed = nlohmann::json::parse(added.body);
  std::vector<std::string> ids;
  for (const auto& photo : listed["photos"]) ids.push_back(photo["id"]);
  ASSERT_EQ(ids.size(), 3U);

  Request request =
      asked("GET", "/api/covers/" + ids[1] + "," + ids[0] + "," + ids[2], {{"X-Annulus-Key", studio.key()}});
  request.query["side"] = "48";
  const Response answer = studio.ask(std::move(request));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.content_type, "image/webp");
  const Image strip = decode_image(std::as_bytes(std::span(answer.body)), {}, "the covers");
  ASSERT_EQ(strip.width, 3U * 52U);
  ASSERT_EQ(strip.height, 48U);
  EXPECT_NEAR(strip.rows()(24, 3 * 24), 40, 6);
  EXPECT_NEAR(strip.rows()(24, 3 * (52 + 24)), 255, 6);
  EXPECT_NEAR(strip.rows()(24, 3 * (104 + 24)), 200, 6);

  std::string many = ids[1];
  for (int i = 0; i < 8; ++i) many += "," + ids[1];
  for (const std::string& wrong : {many, std::string(","), ids[1] + ",0123456789abcdef", ids[1] + ",,"}) {
    EXPECT_EQ(studio.with_key("GET", "/api/covers/" + wrong).status, 400) << wrong;
  }
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

TEST(StudioApp, RefusesLongJsonUnread) {
  AskedStudio studio;
  const std::string body = R"({"name":"project","x":")" + std::string(std::size_t{5} << 20, 'x') + "\"}";
  for (const char* path : {"/api/projects", "/api/change"}) {
    const Response answer = studio.with_key("POST", path, body);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_NE(answer.body.find("bytes of JSON"), std::string::npos) << path;
  }
}

TEST(StudioApp, SaysWhichRevisionAChangeLedTo) {
  AskedStudio studio;
  const auto answer = [&](const char* path, const std::string& body) {
    return nlohmann::json::parse(studio.with_key("POST", path, body).body);
  };
  const std::string upload = "{\"class\":\"owl\",\"files\":[[\"a.png\",12]]}\n\x89PNG\r\n\x1a\n1000";
  const auto added = answer("/api/photos", upload);
  EXPECT_EQ(added["revision"], 1);
  EXPECT_EQ(answer("/api/photos", upload)["revision"], 1);
  const auto move = [&](const char* to) {
    return answer("/api/change",
                  nlohmann::json{{"action", "move"}, {"photos", {added["photos"][0]["id"]}}, {"to", to}}.dump());
  };
  EXPECT_EQ(move("owl")["changed"], false);
  const auto moved = move("wren");
  EXPECT_EQ(moved["changed"], true);
  EXPECT_EQ(moved["revision"], 2);
}

TEST(StudioApp, BadRequestsGetASentence) {
  AskedStudio studio;
  for (const char* body : {"", "[]", "{", "{}", R"({"action":7})", R"({"action":"fly"})", R"({"action":"move"})",
                           R"({"action":"move","photos":[1],"to":"a"})", R"({"action":"undo"})",
                           R"({"action":"remove","photos":["0123456789abcdef"]})"}) {
    const Response answer = studio.with_key("POST", "/api/change", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_TRUE(nlohmann::json::parse(answer.body).contains("error")) << body;
  }
  Request request = asked("GET", "/api/classes", {{"X-Annulus-Key", studio.key()}});
  request.query["limit"] = "many";
  EXPECT_EQ(studio.ask(std::move(request)).status, 400);
  EXPECT_EQ(studio.with_key("POST", "/api/predict", "no image").status, 422);
}

}  // namespace
}  // namespace annulus::server
