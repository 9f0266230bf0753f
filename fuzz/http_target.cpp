// Fuzzes what is ours of a request's first line: percent-decoding, paths, queries, hosts, boundaries.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "annulus/base/error.h"
#include "server/http/multipart.h"
#include "server/http/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  annulus::server::is_loopback_host(text);
  annulus::server::boundary_of(text);
  try {
    const annulus::server::Target target = annulus::server::parse_target(text);
    const std::string& path = target.path;
    // What handlers rely on.
    const bool clean = path.starts_with('/') && path.find("//") == std::string::npos &&
                       path.find('\0') == std::string::npos && (path + "/").find("/../") == std::string::npos &&
                       (path + "/").find("/./") == std::string::npos;
    if (!clean) std::abort();
  } catch (const annulus::Error& error) {
    if (error.kind() != annulus::ErrorKind::kFormat) std::abort();
  }
  return 0;
}
