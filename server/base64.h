// Base64 of images inside JSON.
#pragma once

#include <string>
#include <string_view>

namespace annulus::server {

// Standard or URL-safe alphabet, with or without padding, white space passed over. Throws Error{kFormat} for anything
// else.
std::string base64_decoded(std::string_view text);

// The bytes of "data:image/png;base64,...", or of plain base64. Throws Error{kFormat} for other data and for addresses:
// nothing is fetched.
std::string image_bytes_of_text(std::string_view text);

}  // namespace annulus::server
