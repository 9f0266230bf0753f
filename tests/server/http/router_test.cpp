// Targets taken apart and requests brought to their handlers.
#include "server/http/router.h"

#include <gtest/gtest.h>

#include <string>

#include "server/http/event_text.h"
#include "server/http/target.h"

namespace annulus::server {
namespace {

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
  const Response rejected = route("GET", "/models/x/infer").response;
  EXPECT_EQ(rejected.status, 405);
  EXPECT_EQ(rejected.headers.front(), (std::pair<std::string, std::string>("Allow", "POST, PUT")));
  EXPECT_EQ(rejected.body, "{\"error\":\"/models/x/infer takes POST, PUT, found GET\"}\n");
}

}  // namespace
}  // namespace annulus::server
