// Who may use the studio.
#include "server/studio/studio_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/fixtures/asked_studio.h"

namespace annulus::server {
namespace {

constexpr const char* kKey = "0123456789abcdef0123456789abcdef";

int rejection(Headers headers, const std::string& path = "/api/state") {
  return rejection_of(asked("GET", path, std::move(headers)), kKey);
}

TEST(StudioGuard, OnlyTheKeyOpens) {
  const std::string key = kKey;
  EXPECT_EQ(rejection({{"X-Annulus-Key", key}}), 0);
  EXPECT_EQ(rejection({{"Cookie", "annulus_studio_8080=" + key}}), 0);
  EXPECT_EQ(rejection({{"Cookie", "a=b; annulus_studio_8080=" + key + "; c=d"}}), 0);
  for (const std::string& wrong : {std::string(), key.substr(1), key.substr(0, 31), key + "0", " " + key,
                                   std::string(32, '0'), std::string(32, '\0')}) {
    EXPECT_EQ(rejection({{"X-Annulus-Key", wrong}}), 401) << wrong;
    EXPECT_EQ(rejection({{"Cookie", "annulus_studio_8080=" + wrong}}), 401) << wrong;
  }
  // Another port's cookie, another name that ends alike, the name without a value, the key under no name.
  for (const std::string& cookie : {"annulus_studio_8081=" + key, "xannulus_studio_8080=" + key,
                                    std::string("annulus_studio_8080"), key, "annulus_studio_80800=" + key}) {
    EXPECT_EQ(rejection({{"Cookie", cookie}}), 401) << cookie;
  }
}

TEST(StudioGuard, PagesOfOtherOriginsStayOutside) {
  const std::pair<std::string, std::string> key{"X-Annulus-Key", kKey};
  EXPECT_EQ(rejection({key, {"Origin", "http://127.0.0.1:8080"}}), 0);
  EXPECT_EQ(rejection({key, {"Sec-Fetch-Site", "same-origin"}}), 0);
  for (const char* origin : {"http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://example.org", "null"}) {
    EXPECT_EQ(rejection({key, {"Origin", origin}}), 403) << origin;
  }
  for (const char* site : {"cross-site", "same-site", "anything"}) {
    EXPECT_EQ(rejection({key, {"Sec-Fetch-Site", site}}), 403) << site;
  }
  // A link elsewhere may lead to the page itself, but to nothing else.
  const Headers followed{key, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_EQ(rejection(followed, "/"), 0);
  EXPECT_EQ(rejection(followed), 403);
}

TEST(StudioGuard, KeysDiffer) {
  const std::string key = new_key();
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(key, new_key());
}

}  // namespace
}  // namespace annulus::server
