// share/openapi.json, which the server carries within itself.
#pragma once

namespace annulus::server {

extern const char* const kOpenApiText;

}  // namespace annulus::server
