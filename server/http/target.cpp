// The target of a request taken apart.
#include "server/http/target.h"

#include <algorithm>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

constexpr std::size_t kMostNames = 64;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string decoded_path(std::string_view text) {
  if (text.empty() || text.front() != '/') fail(ErrorKind::kFormat, "expected a path that begins with a slash");
  std::string path;
  for (std::size_t begin = 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string segment = percent_decoded(text.substr(begin, end - begin));
    begin = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") fail(ErrorKind::kFormat, "expected a path without \"..\"");
    if (segment.find('/') != std::string::npos || std::any_of(segment.begin(), segment.end(), is_control)) {
      fail(ErrorKind::kFormat, "expected a path without encoded slashes and control characters");
    }
    path += '/';
    path += segment;
  }
  return path.empty() ? "/" : path;
}

std::map<std::string, std::string> decoded_query(std::string_view text) {
  std::map<std::string, std::string> query;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('&', begin), text.size());
    const std::string_view pair = text.substr(begin, end - begin);
    begin = end + 1;
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = equals == pair.size() ? std::string_view() : pair.substr(equals + 1);
    if (query.size() == kMostNames) fail(ErrorKind::kFormat, "expected at most {} names in a query", kMostNames);
    query.emplace(percent_decoded(pair.substr(0, equals), true), percent_decoded(value, true));
  }
  return query;
}

}  // namespace

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
      if (low < 0) fail(ErrorKind::kFormat, "expected two hexadecimal digits after a percent sign");
      result += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      result += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

Target parse_target(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  target = target.substr(0, target.find('#'));
  Target result;
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    result.host = target.substr(0, end);
    if (result.host.empty()) fail(ErrorKind::kFormat, "expected a host after http:// in the target");
    target.remove_prefix(end);
    if (target.empty()) target = "/";
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  result.path = decoded_path(target.substr(0, question));
  if (question < target.size()) result.query = decoded_query(target.substr(question + 1));
  return result;
}

bool is_loopback_host(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const std::size_t colon = bracketed ? host.find("]:") : host.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + (bracketed ? 2 : 1));
    if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
    host = host.substr(0, colon + (bracketed ? 1 : 0));
  }
  if (host == "localhost" || host == "[::1]") return true;
  if (!host.starts_with("127.")) return false;
  return std::all_of(host.begin(), host.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace annulus::server
