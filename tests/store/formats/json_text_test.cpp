// The JSON shapes inside files: lists and objects of strings, objects of plain values, and nothing else.
#include "annulus/store/formats/json_text.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

TEST(JsonText, StringsComeBackAsTheyWere) {
  const std::vector<std::string> list{"owl", "\"quoted\"", "new\nline", "\xC3\xA9", ""};
  EXPECT_EQ(parse_string_list(to_json(list), "here"), list);
  const std::map<std::string, std::string> map{{"a", "1"}, {"\\", "\t"}};
  EXPECT_EQ(parse_string_map(to_json(map), "here"), map);
}

TEST(JsonText, ValuesComeBackWithTheirTypes) {
  const std::map<std::string, JsonValue> values{{"text", std::string("1")},
                                                {"yes", true},
                                                {"count", ~std::uint64_t{0}},
                                                {"whole", 1.0},
                                                {"fraction", 0.1 + 0.2},
                                                {"negative", -3.0},
                                                {"small", 5e-324}};
  EXPECT_EQ(parse_value_map(to_json(values), "here"), values);
}

TEST(JsonText, OtherShapesAreRejectedByPlace) {
  const auto expect_rejected = [](const auto& parse, const char* text) {
    try {
      parse(text, "names of x.npz");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat);
      EXPECT_NE(std::string(error.what()).find("names of x.npz"), std::string::npos) << error.what();
    }
  };
  for (const char* text : {"", "[", "[1]", "[[\"a\"]]", "{}", "[\"a\"] x", "\"a\"", "[null]"}) {
    expect_rejected(parse_string_list, text);
  }
  for (const char* text : {"", "{", "{\"a\":1}", "{\"a\":{}}", "[]", "{\"a\":\"1\",\"a\":\"2\"}", "{} {}"}) {
    expect_rejected(parse_string_map, text);
  }
  for (const char* text : {"", "{", "1", "true", "\"a\"", "[]", "{\"a\":[]}", "{\"a\":{}}", "{\"a\":null}",
                           "{\"a\":1e999}", "{\"a\":1,\"a\":2}", "{\"a\":1} x", "{\"a\":\"\xFE\"}"}) {
    expect_rejected(parse_value_map, text);
  }
}

TEST(JsonText, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("plain \xE2\x82\xAC \xF0\x9F\xA6\x89"));
  for (const char* text : {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) EXPECT_FALSE(is_utf8(text));
}

}  // namespace
}  // namespace annulus
