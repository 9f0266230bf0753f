// What a client may cost the HTTP layer: sizes, memory, time, connections, and who is let in at all.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tests/fixtures/running_http.h"

namespace annulus::server {
namespace {

using std::chrono::milliseconds;

TEST(HttpLimits, HoldsItsLimits) {
  Running running(small_limits(), echo);
  const auto status = [&](const std::string& text) {
    RawClient client(running.port());
    client.send(text);
    return client.read().status;
  };
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(2000, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status("GET /" + std::string(2000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), 431);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2001\r\n\r\n"), 413);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"), 413);
  std::string chunked = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 30; ++i) chunked += "64\r\n" + std::string(100, 'x') + "\r\n";
  EXPECT_EQ(status(chunked), 413);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x')), 200);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n"), 421);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"), 200);
  EXPECT_EQ(status("GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
  EXPECT_EQ(status("GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
}

TEST(HttpLimits, BodiesOfAllTogetherAreBounded) {
  HttpOptions options;
  options.max_waiting_bytes = 5000;
  std::mutex mutex;
  std::vector<Respond> held;
  Running running(options, [&](Request&& request, Respond respond) {
    if (request.path == "/now") return respond(Response{});
    const std::lock_guard lock(mutex);
    held.push_back(std::move(respond));
  });
  RawClient first(running.port());
  first.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n" + std::string(4000, 'x'));
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return !held.empty();
  }));
  RawClient second(running.port());
  const RawResponse full = second.ask("POST", "/now", std::string(2000, 'x'));
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.value("Retry-After"), "1");
  held.front()(Response{});
  EXPECT_EQ(first.read().status, 200);
  RawClient third(running.port());
  EXPECT_EQ(third.ask("POST", "/now", std::string(2000, 'x')).status, 200);
}

TEST(HttpLimits, AnswersOfAllTogetherAreBounded) {
  // More than the system keeps for a connection whose client reads nothing.
  constexpr std::size_t kLarge = std::size_t{32} << 20;
  HttpOptions options;
  options.max_waiting_bytes = kLarge / 2;
  options.write_time = kPatience;
  Running running(options, [&](Request&& request, const Respond& respond) {
    Response response;
    response.body = std::string(request.path == "/large" ? kLarge : 3, 'x');
    respond(std::move(response));
  });
  RawClient first(running.port());
  first.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(first.stirs());
  RawClient second(running.port());
  const RawResponse full = second.ask("GET", "/large");
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.value("Retry-After"), "1");
  // What costs next to nothing is answered all the same.
  RawClient third(running.port());
  EXPECT_EQ(third.ask("POST", "/small", "body").body, "xxx");
  EXPECT_EQ(third.ask("HEAD", "/large").value("Content-Length"), std::to_string(kLarge));
  EXPECT_EQ(first.read().body.size(), kLarge);
  EXPECT_EQ(third.ask("GET", "/large").body.size(), kLarge);
}

TEST(HttpLimits, EndlessHeadersOfChunksAreRejected) {
  Running running({}, echo);
  const std::string header = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string endless(100'000, 'x');
  for (const std::string& chunk : {"1;" + endless, "3\r\nabc\r\n1;" + endless, "0\r\nx: " + endless}) {
    RawClient client(running.port());
    client.send(header + chunk);
    EXPECT_EQ(client.read().status, 400);
    EXPECT_TRUE(client.ended());
  }
}

// Pages of the address space that are taken.
rlim_t address_space() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

TEST(HttpLimits, ABodyThatIsOnlyAnnouncedTakesNoMemory) {
  constexpr std::size_t kAnnounced = std::size_t{32} << 20;
  constexpr std::size_t kClients = 64;
  Running running({}, echo);
  const rlim_t before = address_space();
  std::vector<std::unique_ptr<RawClient>> clients;
  const std::string begin = "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ";
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<RawClient>(running.port()));
    clients.back()->send(begin + std::to_string(kAnnounced) + "\r\n\r\n");
    EXPECT_EQ(clients.back()->read().status, 100);
  }
  EXPECT_LT(address_space(), before + kClients * kAnnounced / 4);
}

TEST(HttpLimits, ABodyThatThereIsNoMemoryForGets503) {
  if (::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || ::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) {
    GTEST_SKIP() << "a sanitizer ends the program where memory is rejected";
  }
  HttpOptions options;
  options.max_body_bytes = std::size_t{1} << 30U;
  Running running(options, echo);
  RawClient client(running.port());
  const std::string body(std::size_t{48} << 20, 'x');
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &usual), 0);
  const rlimit tight{address_space() + (rlim_t{16} << 20), usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  client.send(body);
  const int status = client.read().status;
  ::setrlimit(RLIMIT_AS, &usual);
  EXPECT_EQ(status, 503);
  RawClient other(running.port());
  EXPECT_EQ(other.ask("GET", "/x").status, 200);
}

// Lets in whoever says so.
std::optional<Response> only_friends(const Request& request) {
  if (request.header("X-Friend") == "throws") throw std::bad_alloc();
  if (request.header("X-Friend") == "yes") return std::nullopt;
  return error_response(401, "expected a friend, found " + request.path + request.body);
}

TEST(HttpLimits, ThoseNotAdmittedNeedNotSendTheirBody) {
  HttpOptions options;
  options.admit = only_friends;
  options.max_waiting_bytes = 5000;
  Running running(options, echo);
  const std::string post = "POST /a HTTP/1.1\r\nHost: localhost\r\n";
  for (const char* rest :
       {"Content-Length: 30000000\r\n\r\n", "Content-Length: 30000000\r\n\r\nabc",
        "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3\r\nab"}) {
    RawClient client(running.port());
    client.send(post + rest);
    const RawResponse answer = client.read();
    EXPECT_EQ(answer.status, 401) << rest;
    EXPECT_EQ(answer.value("Connection"), "close");
    EXPECT_EQ(answer.body, "{\"error\":\"expected a friend, found /a\"}\n");
  }
  // A body that came with its header is passed over.
  RawClient client(running.port());
  EXPECT_EQ(client.ask("POST", "/b", "GET /smuggled HTTP/1.1\r\n\r\n").status, 401);
  EXPECT_EQ(client.ask("POST", "/b", "body", {"X-Friend: yes"}).body, "POST /b body");
  EXPECT_EQ(client.ask("GET", "/c").status, 401);
  EXPECT_EQ(client.ask("GET", "/c", "", {"X-Friend: throws"}).status, 500);
  EXPECT_EQ(client.ask("GET", "/c", "", {"X-Friend: yes"}).body, "GET /c ");
}

TEST(HttpLimits, SlowClientsAreLeftAndOthersNotKeptWaiting) {
  HttpOptions options;
  options.header_time = milliseconds(300);
  options.body_time = milliseconds(300);
  Running running(options, echo);
  RawClient half_a_header(running.port());
  half_a_header.send("GET / HTTP/1.1\r\nHo");
  RawClient half_a_body(running.port());
  half_a_body.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
  RawClient other(running.port());
  EXPECT_EQ(other.ask("GET", "/x").status, 200);
  EXPECT_TRUE(half_a_header.ended());
  EXPECT_TRUE(half_a_body.ended());
  EXPECT_EQ(other.ask("GET", "/y").status, 200);
}

TEST(HttpLimits, MoreConnectionsThanAllowedAreTurnedAway) {
  HttpOptions options;
  options.max_connections = 3;
  std::mutex mutex;
  std::vector<Respond> held;
  Running running(options, [&](Request&&, Respond respond) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(respond));
  });
  std::vector<std::unique_ptr<RawClient>> busy;
  for (std::size_t i = 0; i < 3; ++i) {
    busy.push_back(std::make_unique<RawClient>(running.port()));
    busy.back()->send_request("GET", "/x");
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      return held.size() > i;
    }));
  }
  {
    RawClient more(running.port());
    EXPECT_EQ(more.read().status, 503);
  }
  for (const Respond& respond : held) respond(Response{});
  for (const auto& client : busy) EXPECT_EQ(client->read().status, 200);
}

TEST(HttpLimits, IdleConnectionsGiveWayToThoseThatAsk) {
  HttpOptions options;
  options.max_connections = 3;
  Running running(options, echo);
  RawClient asked(running.port());
  EXPECT_EQ(asked.ask("GET", "/x").status, 200);
  RawClient silent(running.port());
  RawClient half(running.port());
  half.send("GET / HTTP/1.1\r\nHo");
  RawClient first(running.port());
  EXPECT_EQ(first.ask("GET", "/x").status, 200);
  RawClient second(running.port());
  EXPECT_EQ(second.ask("GET", "/x").status, 200);
  RawClient third(running.port());
  EXPECT_EQ(third.ask("GET", "/x").status, 200);
  EXPECT_TRUE(asked.ended());
  EXPECT_TRUE(silent.ended());
  EXPECT_TRUE(half.ended());
  EXPECT_EQ(first.ask("GET", "/y").status, 200);
}

TEST(HttpLimits, AnAddressHasItsOwnLimit) {
  HttpOptions options;
  options.max_per_address = 2;
  Running running(options, echo);
  RawClient first(running.port());
  EXPECT_EQ(first.ask("GET", "/x").status, 200);
  {
    RawClient second(running.port());
    EXPECT_EQ(second.ask("GET", "/x").status, 200);
    RawClient third(running.port());
    const RawResponse full = third.read();
    EXPECT_EQ(full.status, 503);
    EXPECT_NE(full.body.find("from this address"), std::string::npos);
    RawClient elsewhere(running.port(), "127.0.0.2");
    EXPECT_EQ(elsewhere.ask("GET", "/x").status, 200);
  }
  EXPECT_TRUE(eventually([&] { return RawClient(running.port()).ask("GET", "/x").status == 200; }));
}

TEST(HttpLimits, TheAddressWithTheMostConnectionsGivesWay) {
  HttpOptions options;
  options.max_connections = 4;
  Running running(options, echo);
  RawClient honest(running.port(), "127.0.0.2");
  EXPECT_EQ(honest.ask("GET", "/x").status, 200);
  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 12; ++i) {
    flood.push_back(std::make_unique<RawClient>(running.port()));
    EXPECT_EQ(flood.back()->ask("GET", "/x").status, 200);
  }
  // It waited longest, and keeps its place.
  EXPECT_EQ(honest.ask("GET", "/y").status, 200);
}

}  // namespace
}  // namespace annulus::server
