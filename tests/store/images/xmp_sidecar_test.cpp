// Keywords in XMP sidecars.
#include "annulus/store/images/xmp_sidecar.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

// As another program writes it: other prefixes, two descriptions, a rating and keywords of a person.
constexpr const char* kForeign = R"(<?xml version="1.0"?>
<m:xmpmeta xmlns:m="adobe:ns:meta/" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
 <r:RDF>
  <r:Description r:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/>
  <r:Description r:about="" xmlns:d="http://purl.org/dc/elements/1.1/">
   <d:subject><r:Seq><r:li>garden</r:li><r:li>robin</r:li></r:Seq></d:subject>
   <!-- mine -->
  </r:Description>
 </r:RDF>
</m:xmpmeta>)";

TEST(XmpSidecar, ANewOneHoldsTheKeywords) {
  const std::vector<std::string> keywords{"robin & <wren>", "robin & <wren>", "two\x01lines\n"};
  const std::string xmp = xmp_with_keywords("", keywords, "new");
  EXPECT_EQ(count_of(xmp, "<rdf:li>robin &amp; &lt;wren&gt;</rdf:li>"), 2U);  // in dc:subject and in our list
  EXPECT_EQ(count_of(xmp, "<rdf:li>two lines </rdf:li>"), 2U);
  EXPECT_TRUE(xmp.starts_with("<?xpacket begin=")) << xmp;
  EXPECT_NE(xmp.find("xmlns:dc=\"http://purl.org/dc/elements/1.1/\""), std::string::npos);
  EXPECT_EQ(xmp_with_keywords(xmp, keywords, "again"), xmp);
}

TEST(XmpSidecar, AnotherRunTakesBackItsOwnKeywordsAlone) {
  const std::vector<std::string> first{"robin", "wren"};
  const std::string once = xmp_with_keywords(kForeign, first, "foreign");
  EXPECT_EQ(count_of(once, "<r:li>robin</r:li>"), 1U) << once;  // a person's: not ours to take back
  EXPECT_EQ(count_of(once, "<r:li>wren</r:li>"), 2U);
  for (const char* kept : {"xmp:Rating=\"4\"", "<!-- mine -->", "<r:li>garden</r:li>", "<r:Seq>"}) {
    EXPECT_EQ(count_of(once, kept), 1U) << kept;
  }
  const std::vector<std::string> second{"heron"};
  const std::string twice = xmp_with_keywords(once, second, "foreign");
  EXPECT_EQ(count_of(twice, "wren"), 0U);
  EXPECT_EQ(count_of(twice, "<r:li>robin</r:li>"), 1U);
  EXPECT_EQ(count_of(twice, "<r:li>heron</r:li>"), 2U);
  const std::string none = xmp_with_keywords(twice, {}, "foreign");
  EXPECT_EQ(count_of(none, "heron") + count_of(none, "annulus:keywords"), 0U);
  EXPECT_EQ(count_of(none, "<r:li>garden</r:li>"), 1U);
}

TEST(XmpSidecar, WhatIsNoXmpIsAnErrorThatNamesTheFile) {
  for (const char* bad : {"plain text", "<a/>", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", "<rdf:RDF/>", "<a><b></a>",
                          "<!DOCTYPE a [<!ENTITY b 'c'>]><rdf:RDF "
                          "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>&b;</rdf:RDF>"}) {
    try {
      xmp_with_keywords(bad, {}, "photo.xmp");
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat);
      EXPECT_TRUE(std::string(error.what()).starts_with("photo.xmp: expected an XMP sidecar")) << error.what();
    }
  }
}

TEST(XmpSidecar, IsTheOneThatIsThereElseNamedAfterTheWholePhoto) {
  const ScratchFolder scratch;
  const fs::path photo = scratch / "a.jpg";
  EXPECT_EQ(xmp_sidecar_of(photo), scratch / "a.jpg.xmp");
  scratch.write("a.xmp", "");
  EXPECT_EQ(xmp_sidecar_of(photo), scratch / "a.xmp");
  scratch.write("a.jpg.xmp", "");
  EXPECT_EQ(xmp_sidecar_of(photo), scratch / "a.jpg.xmp");
}

TEST(XmpSidecar, FilesAreWrittenWhereSomethingChanges) {
  const ScratchFolder scratch;
  const fs::path photo = scratch / "a.jpg";
  const std::vector<std::string> robin{"robin"};
  EXPECT_THROW(write_xmp_keywords(photo, robin), Error);
  scratch.write("a.jpg", "pixels");
  EXPECT_FALSE(write_xmp_keywords(photo, {}));
  EXPECT_FALSE(fs::exists(scratch / "a.jpg.xmp"));
  EXPECT_TRUE(write_xmp_keywords(photo, robin));
  EXPECT_FALSE(write_xmp_keywords(photo, robin));
  EXPECT_EQ(count_of(content_of(scratch / "a.jpg.xmp"), "<rdf:li>robin</rdf:li>"), 2U);
  EXPECT_TRUE(write_xmp_keywords(photo, {}));
  EXPECT_EQ(count_of(content_of(scratch / "a.jpg.xmp"), "robin"), 0U);
  EXPECT_EQ(content_of(photo), "pixels");
  scratch.write("a.jpg.xmp", "");
  EXPECT_THROW(write_xmp_keywords(photo, robin), Error);
  EXPECT_EQ(content_of(scratch / "a.jpg.xmp"), "");
}

}  // namespace
}  // namespace annulus
