// Base64 both ways; what is none is rejected.
#include "annulus/base/base64.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

TEST(Base64, DecodesBothAlphabetsWithAndWithoutPadding) {
  EXPECT_EQ(base64_decoded(""), "");
  EXPECT_EQ(base64_decoded("YQ=="), "a");
  EXPECT_EQ(base64_decoded("YQ"), "a");
  EXPECT_EQ(base64_decoded("YWI="), "ab");
  EXPECT_EQ(base64_decoded("YW\r\nJj"), "abc");
  EXPECT_EQ(base64_decoded("+/+/"), base64_decoded("-_-_"));
  EXPECT_EQ(base64_decoded("//79"), "\xFF\xFE\xFD");
  for (const char* bad : {"Y", "YWJjZ", "YQ=", "Y*==", "=", "YQ==YQ==", "\x80\x80\x80\x80"}) {
    EXPECT_THROW(base64_decoded(bad), Error) << bad;
  }
}

TEST(Base64, EncodesWithPadding) {
  EXPECT_EQ(base64_encoded(""), "");
  EXPECT_EQ(base64_encoded("a"), "YQ==");
  EXPECT_EQ(base64_encoded("ab"), "YWI=");
  EXPECT_EQ(base64_encoded("abc"), "YWJj");
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i * 7);
    EXPECT_EQ(base64_decoded(base64_encoded(bytes)), bytes) << i;
  }
}

}  // namespace
}  // namespace annulus
