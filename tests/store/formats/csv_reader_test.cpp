// Records and fields of CSV text, quoted as in RFC 4180.
#include "annulus/store/formats/csv_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records records_of(std::string_view text) {
  const std::string source = "some.csv";
  CsvReader reader(text, source);
  Records records;
  std::vector<std::string_view> fields;
  while (reader.next(fields)) records.emplace_back(fields.begin(), fields.end());
  return records;
}

TEST(CsvReader, SplitsFieldsAndSkipsEmptyLines) {
  EXPECT_EQ(records_of("a,b\r\n\n1,\n"), (Records{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(records_of(""), Records{});
  EXPECT_EQ(records_of("last"), Records{{"last"}});
}

TEST(CsvReader, QuotesHideCommasLinesAndQuotes) {
  EXPECT_EQ(records_of("\"a,\"\"b\"\"\",\"two\nlines\"\nc,d"), (Records{{"a,\"b\"", "two\nlines"}, {"c", "d"}}));
}

TEST(CsvReader, SaysOnWhichLineARecordStarts) {
  const std::string source = "some.csv";
  CsvReader reader("\"two\nlines\"\nx\n", source);
  std::vector<std::string_view> fields;
  ASSERT_TRUE(reader.next(fields));
  EXPECT_EQ(reader.line(), 1U);
  ASSERT_TRUE(reader.next(fields));
  EXPECT_EQ(reader.line(), 3U);
}

TEST(CsvReader, NamesTheFileOfBrokenQuotes) {
  for (const char* text : {"\"never closed", "\"closed\" early"}) {
    try {
      records_of(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat);
      EXPECT_NE(std::string(error.what()).find("some.csv"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace annulus
