// One server-sent event as text.
#include "server/http/event_text.h"

#include <gtest/gtest.h>

#include "server/http/router.h"
#include "server/http/target.h"

namespace annulus::server {
namespace {

TEST(EventText, LinesAreKeptTogether) {
  EXPECT_EQ(event_text("a", "x"), "event: a\ndata: x\n\n");
  EXPECT_EQ(event_text("a\nb", "x\r\ny\rz\n"), "event: ab\ndata: x\ndata: y\ndata: z\ndata: \n\n");
  EXPECT_EQ(event_text("", ""), "data: \n\n");
}

}  // namespace
}  // namespace annulus::server
