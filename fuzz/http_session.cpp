// Fuzzes a whole connection: the bytes go to a server on a loopback socket, whose answers must be HTTP.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "server/http/http_server.h"

namespace {

annulus::server::HttpServer& server() {
  static annulus::server::HttpServer* const running = [] {
    annulus::server::HttpOptions options;
    options.max_body_bytes = 4096;
    options.admit = [](const annulus::server::Request& request) -> std::optional<annulus::server::Response> {
      if (!request.body.empty()) std::abort();
      if (request.header("Authorization").empty()) return std::nullopt;
      return annulus::server::error_response(401, "not you");
    };
    options.header_time = options.body_time = options.idle_time = std::chrono::milliseconds(500);
    auto* made = new annulus::server::HttpServer(
        options, [](annulus::server::Request&& request, const annulus::server::Respond& respond) {
          // What handlers rely on.
          if (!request.path.starts_with('/') || request.path.find("/../") != std::string::npos) std::abort();
          if (request.body.size() > 4096 || !request.header("Authorization").empty()) std::abort();
          annulus::server::Response response;
          response.body = request.path + request.body;
          respond(response);
        });
    std::thread([made] { made->run(); }).detach();
    return made;
  }();
  return *running;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  if (client < 0) std::abort();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server().port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // No thousands of connections that linger: the port numbers would run out.
  const linger at_once{1, 0};
  ::setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
  ::send(client, data, size, MSG_NOSIGNAL);
  ::shutdown(client, SHUT_WR);
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::recv(client, buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(client);
  if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) std::abort();
  return 0;
}
