// Fuzzes what a browser sends to the studio: uploads of photos.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "annulus/base/error.h"
#include "server/studio/studio_api.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  try {
    const annulus::server::Upload upload = annulus::server::parse_upload(body);
    // The photos are the bytes after the first line, each once.
    std::size_t bytes = body.find('\n') + 1;
    for (const annulus::studio::NewPhoto& photo : upload.photos) {
      if (!photo.bytes.empty() && photo.bytes.data() != reinterpret_cast<const std::byte*>(data) + bytes) std::abort();
      bytes += photo.bytes.size();
    }
    if (bytes != size) std::abort();
  } catch (const annulus::Error& error) {
    if (error.kind() != annulus::ErrorKind::kFormat) std::abort();
  }
  return 0;
}
