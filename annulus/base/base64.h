// Base64: bytes as text, for pictures inside JSON and pages.
#pragma once

#include <string>
#include <string_view>

namespace annulus {

// Standard alphabet, padded.
std::string base64_encoded(std::string_view bytes);

// Standard or URL-safe alphabet, with or without padding, white space passed over. Throws Error{kFormat} for anything
// else.
std::string base64_decoded(std::string_view text);

}  // namespace annulus
