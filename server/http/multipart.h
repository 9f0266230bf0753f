// multipart/form-data: the parts of a form with files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace annulus::server {

struct FormPart {
  std::string name;
  std::string filename;   // as the client called it; never used as a path
  std::string_view body;  // within the text that was parsed
  bool is_file = false;
};

// The boundary of a Content-Type; empty when it is no multipart/form-data or names none.
std::string boundary_of(std::string_view content_type);

// Throws Error{kFormat} for a body that is no form with that boundary, and for more than 4096 parts.
std::vector<FormPart> parse_multipart(std::string_view body, std::string_view boundary);

}  // namespace annulus::server
