// Pages of other origins are told apart from our own pages, from allowed ones and from programs.
#include "server/http/page_origin.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace annulus::server {
namespace {

bool foreign(Headers headers, const std::vector<std::string>& allowed = {}, bool links = false) {
  Request request;
  request.method = "GET";
  request.headers = std::move(headers);
  request.headers.emplace("Host", "127.0.0.1:8080");
  return from_foreign_page(request, allowed, links);
}

TEST(PageOrigin, OwnPagesAndProgramsAreNotForeign) {
  EXPECT_FALSE(foreign({}));
  EXPECT_FALSE(foreign({{"Origin", "http://127.0.0.1:8080"}, {"Sec-Fetch-Site", "same-origin"}}));
  EXPECT_FALSE(foreign({{"Sec-Fetch-Site", "none"}}));
}

TEST(PageOrigin, OthersAre) {
  for (const char* origin : {"http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://example.org", "null"}) {
    EXPECT_TRUE(foreign({{"Origin", origin}})) << origin;
  }
  for (const char* site : {"cross-site", "same-site", "anything"}) {
    EXPECT_TRUE(foreign({{"Sec-Fetch-Site", site}})) << site;
  }
}

TEST(PageOrigin, UnlessTheyAreAllowed) {
  const Headers asked{{"Origin", "https://b.example"}, {"Sec-Fetch-Site", "cross-site"}};
  EXPECT_FALSE(foreign(asked, {"https://a.example", "https://b.example"}));
  EXPECT_FALSE(foreign(asked, {"*"}));
  EXPECT_TRUE(foreign(asked, {"https://a.example", "https://b.example.org"}));
  // An image or a form tells no origin.
  EXPECT_FALSE(foreign({{"Sec-Fetch-Site", "cross-site"}}, {"*"}));
  EXPECT_TRUE(foreign({{"Sec-Fetch-Site", "cross-site"}}, {"https://b.example"}));
}

TEST(PageOrigin, ALinkMayLeadToAPage) {
  const Headers followed{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_FALSE(foreign(followed, {}, true));
  EXPECT_TRUE(foreign(followed, {}, false));
}

}  // namespace
}  // namespace annulus::server
