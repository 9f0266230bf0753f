// Small pictures: kept, made anew when they take too much memory, white where a photo cannot be decoded.
#include "studio_engine/thumbnails.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/project_photos.h"
#include "tests/fixtures/tiny_studio.h"

namespace annulus::studio {
namespace {

TEST(Thumbnails, AreKept) {
  const ScratchFolder folder;
  SharedProject project(tiny_project(folder));
  const auto added = project.change([](Project& there) { return add_photos(there, "red", kRed, {1, 2}); });
  Thumbnails thumbnails(project);
  const auto first = thumbnails.picture(added[0].id, 12);
  EXPECT_EQ(thumbnails.picture(added[0].id, 12), first);
  EXPECT_NE(thumbnails.picture(added[1].id, 12), first);
  EXPECT_NE(thumbnails.picture(added[0].id, 8), first);
  const Image image = decode_image(std::as_bytes(std::span(*first)), {}, "the picture");
  EXPECT_EQ(image.width, 12U);
}

TEST(Thumbnails, AreDroppedWhenTheyTakeTooMuch) {
  const ScratchFolder folder;
  SharedProject project(tiny_project(folder));
  const auto added = project.change([](Project& there) { return add_photos(there, "red", kRed, {1, 2}); });
  Thumbnails thumbnails(project, Thumbnails(project).picture(added[0].id, 12)->size() + 1);
  const auto first = thumbnails.picture(added[0].id, 12);
  EXPECT_EQ(thumbnails.picture(added[0].id, 12), first);
  thumbnails.picture(added[1].id, 12);
  EXPECT_NE(thumbnails.picture(added[0].id, 12), first);
}

TEST(Thumbnails, FollowAPhotoToAnotherClass) {
  const ScratchFolder folder;
  SharedProject project(tiny_project(folder));
  const auto added = project.change([](Project& there) { return add_photos(there, "red", kRed, {1}); });
  const std::string ids[] = {added[0].id};
  project.change([&](Project& there) { there.move_photos(ids, "blue"); });
  EXPECT_FALSE(Thumbnails(project).picture(added[0].id, 12)->empty());
}

TEST(Thumbnails, StripsAreWhiteWhereNothingCanBeDecoded) {
  const ScratchFolder folder;
  SharedProject project(tiny_project(folder));
  const auto red = project.change([](Project& there) { return add_photos(there, "red", kRed, {1}); });
  const auto broken = project.change([](Project& there) { return add(there, "red", {7}); });
  Thumbnails thumbnails(project);
  const std::string ids[] = {broken[0].id, red[0].id};
  const auto strip = thumbnails.strip(ids, 24);
  const Image image = decode_image(std::as_bytes(std::span(*strip)), {}, "the strip");
  ASSERT_EQ(image.width, 52U);
  ASSERT_EQ(image.height, 24U);
  EXPECT_NEAR(image.rows()(12, 3 * 12 + 1), 255, 6);
  EXPECT_LT(image.rows()(12, 3 * 38 + 1), 80);
  expect_error(ErrorKind::kFormat, "", [&] { thumbnails.picture(broken[0].id, 24); });
  expect_error(ErrorKind::kUsage, "0123456789abcdef", [&] { thumbnails.picture("0123456789abcdef", 24); });
}

}  // namespace
}  // namespace annulus::studio
