// Which page caused a request: browsers send requests for any page that asks them to.
#pragma once

#include <span>
#include <string>

#include "server/http/http.h"

namespace annulus::server {

// Whether the page's origin is in the list; "*" stands for every origin. False for a request without one.
bool origin_is_allowed(const Request& request, std::span<const std::string> allowed);

// Whether a page of another origin, not in the list, caused the request, by its Origin and Sec-Fetch-Site. Programs
// that are no browsers send neither. `links`: one may lead here, as to a page that the user then sees.
bool from_foreign_page(const Request& request, std::span<const std::string> allowed, bool links);

}  // namespace annulus::server
