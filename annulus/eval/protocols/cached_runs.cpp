// Keys of cached runs.
#include "annulus/eval/protocols/cached_runs.h"

#include <nlohmann/json.hpp>
#include <span>

#include "annulus/base/checksum.h"

namespace annulus {

std::string run_key_of(const std::map<std::string, std::string>& parts) {
  const std::string text = nlohmann::json(parts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace annulus
