// Parts between boundaries; each a few header lines, an empty line and a body.
#include "server/http/multipart.h"

#include <algorithm>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

constexpr std::size_t kMostParts = 4096;
constexpr std::size_t kMostHeaderBytes = 4096;

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_no_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(),
                                                    [](char a, char b) { return lower_letter(a) == lower_letter(b); });
}

// The value of a parameter in `form-data; name="a"; filename="b"`, quoted or not; empty when it is missing.
std::string parameter_of(std::string_view header, std::string_view name, bool& found) {
  found = false;
  for (std::size_t at = header.find(';'); at != std::string_view::npos && at < header.size();) {
    ++at;
    while (at < header.size() && (header[at] == ' ' || header[at] == '\t')) ++at;
    const std::size_t equals = header.find('=', at);
    if (equals == std::string_view::npos) return {};
    const std::string_view key = header.substr(at, equals - at);
    std::string value;
    at = equals + 1;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        value += header[at];
      }
      at = header.find(';', at);
    } else {
      const std::size_t end = std::min(header.find(';', at), header.size());
      value = std::string(header.substr(at, end - at));
      at = header.find(';', at);
    }
    if (key.size() == name.size() && starts_with_no_case(key, name)) {
      found = true;
      return value;
    }
  }
  return {};
}

FormPart part_of(std::string_view text) {
  const std::size_t end = text.substr(0, kMostHeaderBytes).find("\r\n\r\n");
  if (end == std::string_view::npos) fail(ErrorKind::kFormat, "expected the header of a form's part");
  FormPart part;
  part.body = text.substr(end + 4);
  for (std::size_t begin = 0; begin < end;) {
    const std::size_t stop = std::min(text.find("\r\n", begin), end);
    const std::string_view line = text.substr(begin, stop - begin);
    begin = stop + 2;
    if (!starts_with_no_case(line, "content-disposition:")) continue;
    bool found = false;
    part.name = parameter_of(line, "name", found);
    part.filename = parameter_of(line, "filename", part.is_file);
  }
  return part;
}

}  // namespace

std::string boundary_of(std::string_view content_type) {
  if (!starts_with_no_case(content_type, "multipart/form-data")) return {};
  bool found = false;
  const std::string boundary = parameter_of(content_type, "boundary", found);
  return boundary.size() <= 200 ? boundary : std::string();
}

std::vector<FormPart> parse_multipart(std::string_view body, std::string_view boundary) {
  const std::string mark = "--" + std::string(boundary);
  std::vector<FormPart> parts;
  std::size_t at = body.starts_with(mark) ? 0 : body.find("\r\n" + mark);
  if (boundary.empty() || at == std::string_view::npos) {
    fail(ErrorKind::kFormat, "expected a form between boundaries, found none");
  }
  at = body.find(mark, at) + mark.size();
  const std::string next_mark = "\r\n" + mark;
  while (!body.substr(at).starts_with("--")) {
    const std::size_t line_end = body.find("\r\n", at);
    if (line_end == std::string_view::npos) fail(ErrorKind::kFormat, "expected a form that ends, found one cut short");
    const std::size_t begin = line_end + 2;
    // An empty part's end begins at the line end of its boundary.
    const std::size_t end = body.find(next_mark, line_end);
    if (end == std::string_view::npos) fail(ErrorKind::kFormat, "expected a form that ends, found one cut short");
    if (parts.size() == kMostParts) fail(ErrorKind::kFormat, "expected at most {} parts in a form", kMostParts);
    parts.push_back(part_of(end > begin ? body.substr(begin, end - begin) : std::string_view()));
    at = end + next_mark.size();
  }
  return parts;
}

}  // namespace annulus::server
