// What uploads and changes must look like, and what the studio responds.
#include "server/studio/studio_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/vision/image/thumbnail.h"
#include "tests/fixtures/asked_studio.h"

namespace annulus::server {
namespace {

TEST(StudioApi, TakesPhotosOneAfterTheOther) {
  const std::string body = "{\"class\":\"owl\",\"files\":[[\"a.png\",3],[\"empty\",0],[\"b.png\",2]]}\n123\n5";
  const Upload upload = parse_upload(body);
  EXPECT_EQ(upload.class_name, "owl");
  ASSERT_EQ(upload.photos.size(), 3U);
  EXPECT_EQ(upload.photos[0].name, "a.png");
  EXPECT_EQ(upload.photos[0].bytes.size(), 3U);
  EXPECT_EQ(upload.photos[1].bytes.size(), 0U);
  EXPECT_EQ(static_cast<char>(upload.photos[2].bytes[1]), '5');
}

TEST(StudioApi, RejectsUploadsThatDoNotAddUp) {
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

TEST(StudioApi, CoversAreOnePicture) {
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

TEST(StudioApi, TakesPhotosOfEveryFormat) {
  AskedStudio studio;
  nlohmann::json header = {{"class", "owl"}, {"files", nlohmann::json::array()}};
  std::string bytes;
  for (const char* const file : {"photos/smooth.heic", "photos/smooth.avif", "photos/lzw.tif", "photos/blocks.gif",
                                 "photos/boxes.jxl", "photos/preview.dng", "images/webp_lossy.webp"}) {
    std::ifstream stream(std::string(ANNULUS_TEST_DATA) + "/" + file, std::ios::binary);
    const std::string photo{std::istreambuf_iterator<char>(stream), {}};
    header["files"].push_back({"photo.jpg", photo.size()});  // content decides
    bytes += photo;
  }
  const Response added = studio.with_key("POST", "/api/photos", header.dump() + "\n" + bytes);
  ASSERT_EQ(added.status, 200) << added.body;
  const auto photos = nlohmann::json::parse(added.body)["photos"];
  ASSERT_EQ(photos.size(), 7U);
  for (const auto& photo : photos) {
    EXPECT_EQ(photo["outcome"], "added") << added.body;
    const Response answer = studio.with_key("GET", "/api/thumbnail/" + photo["id"].get<std::string>());
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.content_type, "image/webp");
    const Image picture = decode_image(std::as_bytes(std::span(answer.body)), {}, "the thumbnail");
    EXPECT_GT(picture.width, picture.height) << photo["id"];
  }
}

TEST(StudioApi, RejectsLongJsonUnread) {
  AskedStudio studio;
  const std::string body = R"({"name":"project","x":")" + std::string(std::size_t{5} << 20, 'x') + "\"}";
  for (const char* path : {"/api/projects", "/api/change"}) {
    const Response answer = studio.with_key("POST", path, body);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_NE(answer.body.find("bytes of JSON"), std::string::npos) << path;
  }
}

TEST(StudioApi, SaysWhichRevisionAChangeLedTo) {
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

TEST(StudioApi, BadRequestsGetASentence) {
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
