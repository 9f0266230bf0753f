// The process that decodes images for the server.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "annulus/vision/image/image.h"

namespace annulus::server {

using DecodeFunction = std::function<Image(std::span<const std::byte>, const DecodeOptions&, std::string_view source)>;

// Confines itself, then answers requests over kDecodeSocket until the other side closes it. Returns the exit code of
// the process. Errors of `decode` are answers, and so is a lack of memory.
int run_decode_worker(const DecodeFunction& decode = decode_image);

}  // namespace annulus::server
