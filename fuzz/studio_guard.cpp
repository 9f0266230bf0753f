// Fuzzes the studio's door: headers in lines, as they were sent. Nobody gets in without the key, or from elsewhere.
#include "server/studio/studio_guard.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string key = "0123456789abcdef0123456789abcdef";
  std::string_view text(reinterpret_cast<const char*>(data), size);
  annulus::server::Request request;
  request.method = "GET";
  request.path = "/api/state";
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      request.headers.emplace(std::string(line.substr(0, colon)), std::string(line.substr(colon + 1)));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (annulus::server::rejection_of(request, key) != 0) return 0;
  const auto has_key = [&](std::string_view header) { return request.header(header).find(key) != std::string::npos; };
  const std::string_view origin = request.header("Origin");
  const bool own = origin.empty() || origin == "http://" + std::string(request.header("Host"));
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!has_key("Cookie") && !has_key("X-Annulus-Key")) std::abort();
  if (!own || !(site.empty() || site == "same-origin" || site == "none")) std::abort();
  return 0;
}
