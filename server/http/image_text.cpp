// Takes data: URIs apart.
#include "server/http/image_text.h"

#include "annulus/base/base64.h"
#include "annulus/base/error.h"

namespace annulus::server {

std::string image_bytes_of_text(std::string_view text) {
  if (text.starts_with("data:")) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || !text.substr(0, comma).ends_with(";base64")) {
      fail(ErrorKind::kFormat, "expected an image as data:...;base64,...");
    }
    return base64_decoded(text.substr(comma + 1));
  }
  if (text.substr(0, 16).find("://") != std::string_view::npos) {
    fail(ErrorKind::kFormat, "expected an image as base64, found an address: nothing is fetched");
  }
  return base64_decoded(text);
}

}  // namespace annulus::server
