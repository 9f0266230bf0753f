// The target of a request taken apart: percent-decoding, paths without tricks, queries, hosts.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace annulus::server {

struct Target {
  std::string path;
  std::map<std::string, std::string> query;
  std::string host;  // of an absolute target, and its port; it counts in place of the header Host
};

// "/a%20b/./c?x=1" -> {"/a b/c", {x: 1}}, as is "http://HOST/a%20b/./c?x=1" with its host. Throws Error{kFormat} for
// what is no path of ours: a path that does not begin with a slash, "..", an encoded slash or control character, a
// broken escape, a query of more than 64 names.
Target parse_target(std::string_view target);

// Throws Error{kFormat} at a broken escape. `plus_is_space` is for queries and forms.
std::string percent_decoded(std::string_view text, bool plus_is_space = false);

// Whether a Host header names this machine itself: localhost, 127.x.x.x or [::1], with any port. Pages elsewhere that
// have their own name resolve to a loopback address do not get past it.
bool is_loopback_host(std::string_view host);

}  // namespace annulus::server
