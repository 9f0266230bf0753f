// Headers without regard to case, errors as responses, responses as text.
#include "server/http/http.h"

#include <fmt/format.h>

#include <algorithm>

#include "annulus/base/json_string.h"

namespace annulus::server {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool clean_header(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace

bool NoCaseLess::operator()(std::string_view a, std::string_view b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](char x, char y) { return lower(x) < lower(y); });
}

std::string_view Request::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string Request::query_value(const std::string& name, const std::string& otherwise) const {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

void check_framing(const Request& request, unsigned version) {
  const auto found = request.headers.find("Transfer-Encoding");
  if (found == request.headers.end()) return;
  const std::string& coding = found->second;
  constexpr std::string_view kChunked = "chunked";
  const bool known = std::equal(coding.begin(), coding.end(), kChunked.begin(), kChunked.end(),
                                [](char a, char b) { return lower(a) == b; });
  if (!known || version < 11) {
    fail(ErrorKind::kFormat, "expected Transfer-Encoding: chunked of HTTP/1.1 or none, found \"{}\" of HTTP/{}.{}",
         coding, version / 10, version % 10);
  }
}

Response error_response(int status, std::string_view message) {
  Response response;
  response.status = status;
  // Without a tree, whose destruction takes memory: there may be none, and a destructor may be what answers.
  response.body = "{\"error\":" + json_string(message) + "}\n";
  return response;
}

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kFormat:
      return 400;
    case ErrorKind::kInput:
      return 422;
    case ErrorKind::kCancelled:
      return 503;
    case ErrorKind::kIo:
    case ErrorKind::kInternal:
      return 500;
  }
  return 500;
}

// Fields are called in JSON as in the library, with quotes around the key.
Response error_response(const Error& error) {
  return error_response(status_of(error.kind()), error.message_with(fmt::format("\"{}\"", error.field())));
}

std::string_view reason_of(int status) {
  static const std::map<int, std::string_view> kReasons{
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Payload Too Large"},
      {415, "Unsupported Media Type"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  const auto found = kReasons.find(status);
  return found == kReasons.end() ? std::string_view() : found->second;
}

std::string header_text(const Response& response, bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nServer: annulus\r\nX-Content-Type-Options: nosniff\r\n",
                                 response.status, reason_of(response.status));
  const bool streams = static_cast<bool>(response.stream);
  if (streams) {
    text += "Content-Type: text/event-stream\r\nCache-Control: no-store\r\n";
  } else {
    if (response.status != 204 && response.status != 304) {
      text += fmt::format("Content-Length: {}\r\n", response.body.size());
    }
    if (!response.body.empty() && clean_header(response.content_type)) {
      text += fmt::format("Content-Type: {}\r\n", response.content_type);
    }
  }
  for (const auto& [name, value] : response.headers) {
    if (clean_header(name) && clean_header(value)) text += fmt::format("{}: {}\r\n", name, value);
  }
  text += keep_alive && !streams ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return text;
}

}  // namespace annulus::server
