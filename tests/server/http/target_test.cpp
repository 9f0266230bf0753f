// Targets of requests: decoding, paths without tricks, queries, hosts.
#include "server/http/target.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/base/error.h"
#include "server/http/event_text.h"
#include "server/http/router.h"

namespace annulus::server {
namespace {

TEST(Target, PathsAreDecodedAndNormalised) {
  EXPECT_EQ(parse_target("/").path, "/");
  EXPECT_EQ(parse_target("//a///b/").path, "/a/b");
  EXPECT_EQ(parse_target("/a%20b/%C3%A9").path, "/a b/\xC3\xA9");
  EXPECT_EQ(parse_target("/./a/.").path, "/a");
  EXPECT_EQ(parse_target("/a+b#c?d").path, "/a+b");
  EXPECT_EQ(parse_target("/...").path, "/...");
  EXPECT_EQ(parse_target("/a").host, "");
  const Target absolute = parse_target("http://localhost:80/a%20b?x=1");
  EXPECT_EQ(absolute.host, "localhost:80");
  EXPECT_EQ(absolute.path, "/a b");
  EXPECT_EQ(absolute.query.at("x"), "1");
  EXPECT_EQ(parse_target("http://localhost").path, "/");
  EXPECT_THROW(parse_target("http:///a"), Error);
  EXPECT_THROW(parse_target("http://localhost?x=1"), Error);
}

TEST(Target, TricksAreRejected) {
  for (const char* target : {"", "a", "*", "https://localhost/a", "/..", "/a/../b", "/%2e%2e/b", "/.%2E", "/a%2fb",
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

}  // namespace
}  // namespace annulus::server
