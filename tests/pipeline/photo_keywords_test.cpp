// Labels of predictions as keywords of photos.
#include "annulus/pipeline/photo_keywords.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(PhotoKeywords, BoxesAndFramesCountForTheirFile) {
  const ScratchFolder scratch;
  const std::string photo = scratch.write("a.jpg", "pixels").string();
  const std::string clip = scratch.write("b.mp4", "frames").string();
  const std::string other = scratch.write("c.jpg", "pixels").string();
  PhotoKeywords keywords;
  keywords.add(photo + "#xywh=1,2,3,4", "robin");
  keywords.add(photo + "#xywh=5,6,7,8", "wren");
  keywords.add(clip + "#t=2", "robin");
  keywords.add(clip + "#t=4", "");
  keywords.add(other, "");
  EXPECT_EQ(keywords.photos(), 3U);
  EXPECT_EQ(keywords.write(), 2U);
  const std::string of_photo = content_of(scratch / "a.jpg.xmp");
  EXPECT_NE(of_photo.find("<rdf:li>robin</rdf:li>"), std::string::npos) << of_photo;
  EXPECT_NE(of_photo.find("<rdf:li>wren</rdf:li>"), std::string::npos);
  EXPECT_EQ(content_of(scratch / "b.mp4.xmp").find("wren"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch / "c.jpg.xmp"));
  EXPECT_EQ(keywords.write(), 0U);  // nothing changes
}

TEST(PhotoKeywords, ALabelThatIsNotGivenAnyMoreIsTakenBack) {
  const ScratchFolder scratch;
  const std::string photo = scratch.write("a.jpg", "pixels").string();
  PhotoKeywords before;
  before.add(photo, "robin");
  before.write();
  PhotoKeywords after;
  after.add(photo, "");
  EXPECT_EQ(after.write(), 1U);
  EXPECT_EQ(content_of(scratch / "a.jpg.xmp").find("robin"), std::string::npos);
}

TEST(PhotoKeywords, AnErrorBeforeTheWorkAndAStopWithinIt) {
  const ScratchFolder scratch;
  const std::string photo = scratch.write("a.jpg", "pixels").string();
  EXPECT_NO_THROW(PhotoKeywords::check_writable(photo));
  EXPECT_NO_THROW(PhotoKeywords::check_writable(scratch.path().string()));
  EXPECT_THROW(PhotoKeywords::check_writable((scratch / "none/a.jpg").string()), Error);
  PhotoKeywords keywords;
  keywords.add(photo, "robin");
  EXPECT_THROW(keywords.write([](const Progress&) { return false; }), Error);
  EXPECT_FALSE(std::filesystem::exists(scratch / "a.jpg.xmp"));
}

}  // namespace
}  // namespace annulus
