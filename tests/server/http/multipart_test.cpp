// Parts of forms with files, whole and cut short.
#include "server/http/multipart.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "server/predict/infer_body.h"
#include "server/predict/predict_api.h"
#include "server/predict/predict_body.h"

namespace annulus::server {
namespace {

TEST(Multipart, FindsPartsAndTheirNames) {
  const std::string boundary = boundary_of("multipart/form-data; charset=x; boundary=\"a b\"");
  EXPECT_EQ(boundary, "a b");
  EXPECT_EQ(boundary_of("Multipart/Form-Data;boundary=xyz"), "xyz");
  EXPECT_EQ(boundary_of("application/json; boundary=xyz"), "");
  const std::string body =
      "--a b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"..\\\"/x.png\"\r\nContent-Type: "
      "image/png\r\n\r\n"
      "bytes\r\n--not it\r\n\r\n--a b\r\ncontent-disposition: form-data; name=model\r\n\r\n\r\n--a b--\r\n";
  const std::vector<FormPart> parts = parse_multipart(body, boundary);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].filename, "..\"/x.png");
  EXPECT_TRUE(parts[0].is_file);
  EXPECT_EQ(parts[0].body, "bytes\r\n--not it\r\n");
  EXPECT_EQ(parts[1].name, "model");
  EXPECT_FALSE(parts[1].is_file);
  EXPECT_EQ(parts[1].body, "");
}

TEST(Multipart, EveryCutIsRejectedOrWhole) {
  const std::string body = "--b\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\nbytes\r\n--b--";
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_THROW(parse_multipart(body.substr(0, size), "b"), Error) << size;
  }
  EXPECT_EQ(parse_multipart(body, "b").size(), 1U);
  EXPECT_THROW(parse_multipart(body, ""), Error);
  EXPECT_THROW(parse_multipart(body, "c"), Error);
}

}  // namespace
}  // namespace annulus::server
