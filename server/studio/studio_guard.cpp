// Checks the key, and which page caused a request.
#include "server/studio/studio_guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "annulus/base/error.h"
#include "server/http/page_origin.h"

namespace annulus::server {
namespace {

// Compares in a time that does not tell where the texts differ.
bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

std::string_view cookie_of(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = cookies.find(';');
    std::string_view one = cookies.substr(0, end);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
    if (end == std::string_view::npos) break;
    cookies.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

std::string new_key() {
  std::array<unsigned char, 16> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    fail(ErrorKind::kIo, "the operating system gives no random numbers (error {})", errno);
  }
  std::string key;
  for (const unsigned char byte : bytes) key += fmt::format("{:02x}", byte);
  return key;
}

std::string cookie_name(const Request& request) {
  const std::string_view host = request.header("Host");
  const std::size_t colon = host.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "80" : host.substr(colon + 1);
  return fmt::format("annulus_studio_{}", port);
}

bool brings_key(const Request& request, const std::string& key) {
  return request.path == "/" && request.method == "GET" && same_text(request.query_value("key"), key);
}

int rejection_of(const Request& request, const std::string& key) {
  // A link elsewhere may lead to the page itself, but to nothing else.
  if (from_foreign_page(request, {}, request.path == "/")) return 403;
  if (same_text(cookie_of(request.header("Cookie"), cookie_name(request)), key)) return 0;
  return same_text(request.header("X-Annulus-Key"), key) ? 0 : 401;
}

}  // namespace annulus::server
