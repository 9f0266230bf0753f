// Text as a JSON string, for documents that are written without building a tree first.
#pragma once

#include <string>
#include <string_view>

namespace annulus {

// With quotes and escapes; bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);

}  // namespace annulus
