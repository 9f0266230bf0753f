// Targets taken apart and requests brought to their handlers.
#include "server/router.h"

#include <gtest/gtest.h>

#include <string>

#include "server/event_text.h"
#include "server/target.h"

namespace annulus::server {
namespace {

TEST(Target, PathsAreDecodedAndNormalised) {
  EXPECT_EQ(parse_target("/").path, "/");
  EXPECT_EQ(parse_target("//a///b/").path, "/a/b");
  EXPECT_EQ(parse_target("/a%20b/%C3%A9").path, "/a b/\xC3\xA9");
  EXPECT_EQ(parse_target("/./a/.").path, "/a");
  EXPECT_EQ(parse_target("/a+b#c?d").path, "/a+b");
  EXPECT_EQ(parse_target("/...").path, "/...");
}

TEST(Target, TricksAreRefused) {
  for (const char* target : {"", "a", "*", "http://localhost/a", "/..", "/a/../b", "/%2e%2e/b", "/.%2E", "/a%2fb",
                             "/%00", "/a%0ab", "/%", "/%4", "/%zz", "/a?b=%q1", "/%7f"}) {
    EXPECT_THROW(parse_target(target), Error) << target;
  }
  std::string many = "/a?";
  for (int i = 0; i < 65; ++i) many += "n" + std::to_string(i) + "=1&";
  EXPECT_THROW(parse_target(many), Error);
}

TEST(Target, QueriesAreDecoded) {
  const Target target = parse_target("/p?a=1&b=x+y%26&flag&a=2&&=z");
  EXPECT_EQ(target.query.at("a"), "1");
  EXPECT_EQ(target.query.at("b"), "x y&");
  EXPECT_EQ(target.query.at("flag"), "");
  EXPECT_EQ(target.query.at(""), "z");
  EXPECT_EQ(target.query.size(), 4U);
}

TEST(Target, LoopbackHosts) {
  for (const char* host : {"localhost", "localhost:80", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:9"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const char* host :
       {"", "localhost.example", "127.0.0.1.example", "example:80", "localhost:8o", "[::2]", "10.0.0.1"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

struct Routed {
  Response response;
  Request seen;
};

Routed route(const std::string& method, const std::string& path) {
  Routed routed;
  Router router;
  const Handler keep = [&](Request&& request, const Respond& respond) {
    routed.seen = std::move(request);
    respond(Response{});
  };
  router.add("GET", "/", keep);
  router.add("GET", "/models/{model}", keep);
  router.add("POST", "/models/{model}/infer", keep);
  router.add("PUT", "/models/{model}/infer", keep);
  router.add("GET", "/files/{rest*}", keep);
  Request request;
  request.method = method;
  request.path = path;
  router(std::move(request), [&](Response response) { routed.response = std::move(response); });
  return routed;
}

TEST(Router, FindsTheHandlerAndTheNames) {
  EXPECT_EQ(route("GET", "/").seen.route, "/");
  const Routed model = route("GET", "/models/a b");
  EXPECT_EQ(model.seen.route, "/models/{model}");
  EXPECT_EQ(model.seen.captures.at("model"), "a b");
  EXPECT_EQ(route("HEAD", "/models/x").response.status, 200);
  EXPECT_EQ(route("PUT", "/models/x/infer").seen.method, "PUT");
  EXPECT_EQ(route("GET", "/files/a/b.js").seen.captures.at("rest"), "a/b.js");
  EXPECT_EQ(route("GET", "/files").seen.captures.at("rest"), "");
}

TEST(Router, SaysWhatIsMissing) {
  EXPECT_EQ(route("GET", "/nothing").response.status, 404);
  EXPECT_EQ(route("GET", "/models").response.status, 404);
  EXPECT_EQ(route("GET", "/models/x/y").response.status, 404);
  const Response refused = route("GET", "/models/x/infer").response;
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.front(), (std::pair<std::string, std::string>("Allow", "POST, PUT")));
  EXPECT_EQ(refused.body, "{\"error\":\"/models/x/infer takes POST, PUT, found GET\"}\n");
}

TEST(EventText, LinesAreKeptTogether) {
  EXPECT_EQ(event_text("a", "x"), "event: a\ndata: x\n\n");
  EXPECT_EQ(event_text("a\nb", "x\r\ny\rz\n"), "event: ab\ndata: x\ndata: y\ndata: z\ndata: \n\n");
  EXPECT_EQ(event_text("", ""), "data: \n\n");
}

}  // namespace
}  // namespace annulus::server
