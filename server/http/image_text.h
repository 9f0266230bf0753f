// Images as text inside a request: base64 or a data: URI.
#pragma once

#include <string>
#include <string_view>

namespace annulus::server {

// The bytes of "data:image/png;base64,...", or of plain base64. Throws Error{kFormat} for other data and for addresses:
// nothing is fetched.
std::string image_bytes_of_text(std::string_view text);

}  // namespace annulus::server
