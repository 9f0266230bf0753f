// Texts inside SVG drawings.
#include "annulus/report/plot/svg_canvas.h"

#include <gtest/gtest.h>

namespace annulus {
namespace {

TEST(SvgText, EscapingCoversAllThatXmlForbids) {
  EXPECT_EQ(escape_xml("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escape_xml("Büßer 鳥 🐦"), "Büßer 鳥 🐦");
  EXPECT_EQ(escape_xml(std::string_view("\0\x1b\xff\xc3", 4)), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escape_xml("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a lone surrogate
  EXPECT_EQ(escape_xml("\uFFFF"), "\uFFFD\uFFFD\uFFFD");
}

TEST(SvgText, ShorteningCountsCharacters) {
  EXPECT_EQ(shorten("鳥鳥鳥", 3), "鳥鳥鳥");
  EXPECT_EQ(shorten("鳥鳥鳥鳥", 3), "鳥鳥…");
  EXPECT_EQ(shorten("", 3), "");
}

}  // namespace
}  // namespace annulus
