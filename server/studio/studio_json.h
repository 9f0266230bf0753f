// What the answers of the studio's interface have in common.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "server/http/http.h"

namespace annulus::server {

// Four digits after the point: coordinates and probabilities on the page need no more.
inline double rounded(double value) { return std::round(value * 1e4) / 1e4; }

// Bytes that are not UTF-8 are replaced.
inline Response json_body(const nlohmann::ordered_json& json) {
  Response response;
  response.body = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return response;
}

}  // namespace annulus::server
