// Who may use the studio: whoever has the key, from the studio's own page.
#pragma once

#include <string>

#include "server/http/http.h"

namespace annulus::server {

// Name of the cookie that holds the key. The port is part of it: all ports of a machine share their cookies.
std::string cookie_name(const Request& request);

// Random, 32 hexadecimal digits, from the operating system.
std::string new_key();

// HTTP status of the rejection of a request; 0: it is allowed. `key` is in the cookie named after the port of
// the Host header, or in the header X-Annulus-Key.
int rejection_of(const Request& request, const std::string& key);

// Whether the request is for the address that the program prints: the page, with the key in the query.
bool brings_key(const Request& request, const std::string& key);

}  // namespace annulus::server
