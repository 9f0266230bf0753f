// A client for tests that sends any bytes over a socket and reads answers one by one.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annulus::server {

struct RawAnswer {
  int status = 0;  // 0: the connection ended without one
  std::string header;
  std::string body;

  // The value of a header, by its exact name.
  std::string value(const std::string& name) const {
    const auto begin = header.find("\r\n" + name + ": ");
    if (begin == std::string::npos) return {};
    const auto from = begin + name.size() + 4;
    return header.substr(from, header.find("\r\n", from) - from);
  }
};

// How long a test waits for what must happen; only a test that fails waits that long.
constexpr std::chrono::seconds kPatience{60};

// Whether a condition holds, at once or within kPatience.
template <class Condition>
bool eventually(const Condition& holds) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot connect");
    }
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  // Ends the connection by a reset, as a killed client does.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close();
  }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Waits until there is something to read or the connection ends; false when neither happens within kPatience.
  bool stirs() const {
    pollfd wait{socket_, POLLIN, 0};
    return ::poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) > 0;
  }

  // What comes next, at least a byte; empty at the end of the connection or after kPatience.
  std::string some() const {
    if (!stirs()) return {};
    std::string bytes(std::size_t{64} << 10, '\0');
    const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }

  // The next answer, by its Content-Length.
  RawAnswer read() {
    RawAnswer answer;
    std::size_t end = 0;
    while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
      const std::string more = some();
      if (more.empty()) return answer;
      pending_ += more;
    }
    answer.header = pending_.substr(0, end + 2);
    answer.status = std::atoi(answer.header.substr(answer.header.find(' ') + 1, 3).c_str());
    pending_.erase(0, end + 4);
    const auto size = static_cast<std::size_t>(std::strtoull(answer.value("Content-Length").c_str(), nullptr, 10));
    while (!bodiless_ && pending_.size() < size) {
      const std::string more = some();
      if (more.empty()) break;
      pending_ += more;
    }
    answer.body = bodiless_ ? "" : pending_.substr(0, size);
    pending_.erase(0, answer.body.size());
    return answer;
  }

  void send_request(const std::string& method, const std::string& target, const std::string& body = {},
                    const std::vector<std::string>& headers = {}) {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const std::string& header : headers) text += header + "\r\n";
    if (!body.empty() || method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    bodiless_ = method == "HEAD";
    send(text + "\r\n" + body);
  }

  RawAnswer ask(const std::string& method, const std::string& target, const std::string& body = {},
                const std::vector<std::string>& headers = {}) {
    send_request(method, target, body, headers);
    return read();
  }

  int descriptor() const { return socket_; }
  // Whether the server has closed its side.
  bool ended() const { return stirs() && some().empty(); }

 private:
  int socket_;
  bool bodiless_ = false;
  std::string pending_;
};

}  // namespace annulus::server
