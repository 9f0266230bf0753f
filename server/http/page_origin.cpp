// Origin and Sec-Fetch-Site compared with the address of the server.
#include "server/http/page_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace annulus::server {

bool origin_is_allowed(const Request& request, std::span<const std::string> allowed) {
  const std::string_view origin = request.header("Origin");
  return !origin.empty() && std::any_of(allowed.begin(), allowed.end(),
                                        [&](const std::string& entry) { return entry == "*" || entry == origin; });
}

bool from_foreign_page(const Request& request, std::span<const std::string> allowed, bool links) {
  if (origin_is_allowed(request, allowed) || std::find(allowed.begin(), allowed.end(), "*") != allowed.end()) {
    return false;
  }
  const std::string_view origin = request.header("Origin");
  if (!origin.empty() && origin != fmt::format("http://{}", request.header("Host"))) return true;
  const std::string_view site = request.header("Sec-Fetch-Site");
  const bool link = links && request.method == "GET" && request.header("Sec-Fetch-Mode") == "navigate";
  return !site.empty() && site != "same-origin" && site != "none" && !link;
}

}  // namespace annulus::server
