// JSON strings are read back as they were; what is not UTF-8 is replaced.
#include "annulus/base/json_string.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace annulus {
namespace {

TEST(JsonString, QuotesAndEscapes) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("a \"b\" \\ c\n"), R"("a \"b\" \\ c\n")");
  const std::string name = "Gänsesäger \x01 /";
  EXPECT_EQ(nlohmann::json::parse(json_string(name)), name);
}

TEST(JsonString, BytesThatAreNotUtf8AreReplaced) { EXPECT_EQ(json_string("a\xFFz"), "\"a\xEF\xBF\xBDz\""); }

}  // namespace
}  // namespace annulus
