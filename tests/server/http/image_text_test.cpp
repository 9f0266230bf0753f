// Images inside JSON are data, never addresses.
#include "server/http/image_text.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

TEST(ImageText, ImagesAreDataNotAddresses) {
  EXPECT_EQ(image_bytes_of_text("data:image/png;base64,YWJj"), "abc");
  EXPECT_EQ(image_bytes_of_text("YWJj"), "abc");
  for (const char* bad : {"http://localhost/a.png", "file:///etc/passwd", "data:image/png,abc", "data:"}) {
    EXPECT_THROW(image_bytes_of_text(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace annulus::server
