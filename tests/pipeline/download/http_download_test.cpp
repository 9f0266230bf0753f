// Downloads against a server that misbehaves in every way: nothing half-installed, one sentence, and the next call
// works.
#include "annulus/pipeline/download/http_download.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "tests/fixtures/loopback_server.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string many_bytes(std::size_t count, char seed = 1) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<char>((i * 31 + i / 251) * static_cast<unsigned char>(seed));
  return bytes;
}

std::string sum_of(const std::string& bytes) { return sha256_hex(std::as_bytes(std::span(bytes))); }

class HttpDownload : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"ANNULUS_OFFLINE", "ANNULUS_MIRROR", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
      ::unsetenv(name);
    limits_.first_pause_seconds = 0.01;
    limits_.stall_seconds = 1;
  }
  void TearDown() override {
    for (const char* name : {"ANNULUS_OFFLINE", "ANNULUS_MIRROR", "http_proxy"}) ::unsetenv(name);
  }

  DownloadRequest request(const LoopbackServer& server) const {
    return {server.base() + "/net/file.pth", "a-net", sum_of(body_), "its publisher", 0};
  }
  Download get(const DownloadRequest& wanted, const ProgressCallback& progress = {}) const {
    return download_file(wanted, target_, progress, limits_);
  }
  std::string error_of(const DownloadRequest& wanted, ErrorKind kind = ErrorKind::kIo) const {
    try {
      get(wanted);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  // The file is whole, and nothing else is left.
  void expect_installed() const {
    EXPECT_EQ(content_of(target_), body_);
    EXPECT_EQ(scratch_.files(), 1U);
  }
  void expect_not_installed() const { EXPECT_FALSE(std::filesystem::exists(target_)); }
  std::string part() const { return content_of(target_.string() + ".part"); }

  const std::string body_ = many_bytes(300'000);
  const ScratchFolder scratch_;
  const std::filesystem::path target_ = scratch_ / "file";
  DownloadLimits limits_;
};

TEST_F(HttpDownload, BringsTheWholeFileAndTellsHowFarItIs) {
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  std::size_t most = 0;
  std::size_t total = 0;
  const Download download = get(request(server), [&](const Progress& progress) {
    most = std::max(most, progress.done);
    total = std::max(total, progress.total);
    return true;
  });
  EXPECT_EQ(download.sha256, sum_of(body_));
  EXPECT_EQ(download.bytes, body_.size());
  EXPECT_EQ(most, body_.size());
  EXPECT_EQ(total, body_.size());
  expect_installed();
  EXPECT_TRUE(server.requests().front().starts_with("GET /net/file.pth HTTP/1.1\r\n"));
}

TEST_F(HttpDownload, GoesOnWhereItWasCutOff) {
  LoopbackServer server([&](const std::string&, std::size_t number) {
    LoopbackAnswer answer{200, body_};
    if (number == 0) answer.cut_after = 100'000;
    return answer;
  });
  get(request(server));
  expect_installed();
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(LoopbackServer::header(server.requests()[1], "Range"), "bytes=100000-");
}

TEST_F(HttpDownload, CutOffEachTimeItKeepsThePartForTheNextCall) {
  LoopbackServer server([&](const std::string&, std::size_t number) {
    LoopbackAnswer answer{200, body_};
    if (number < 3) answer.cut_after = 1000;
    return answer;
  });
  const std::string error = error_of(request(server));
  EXPECT_NE(error.find("could not download a-net from " + server.base() + "/net/file.pth: the connection was cut off"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("run the command again"), std::string::npos) << error;
  EXPECT_EQ(server.requests().size(), 3U);
  expect_not_installed();
  EXPECT_EQ(part(), body_.substr(0, 3000));
  get(request(server));
  expect_installed();
  EXPECT_EQ(LoopbackServer::header(server.requests().back(), "Range"), "bytes=3000-");
}

TEST_F(HttpDownload, AServerWithoutRangesSendsItAllAgain) {
  LoopbackServer server([&](const std::string&, std::size_t number) {
    LoopbackAnswer answer{200, body_};
    answer.ranges = false;
    if (number == 0) answer.cut_after = 100'000;
    return answer;
  });
  get(request(server));
  expect_installed();
}

TEST_F(HttpDownload, AnotherPartThanAskedForIsRejected) {
  LoopbackServer server([&](const std::string&, std::size_t number) {
    LoopbackAnswer answer{200, body_};
    if (number == 0) answer.cut_after = 5000;
    answer.content_range = "bytes 7-299999/300000";
    return answer;
  });
  EXPECT_NE(error_of(request(server)).find("another part of the file than the one from byte 5000 on"),
            std::string::npos);
  expect_not_installed();
}

TEST_F(HttpDownload, AWrongChecksumInstallsNothingAndLeavesNothing) {
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, many_bytes(5000, 3)}; });
  const std::string error = error_of(request(server));
  EXPECT_NE(error.find("expected a-net to have the sha256 " + sum_of(body_) + " (from its publisher), found " +
                       sum_of(many_bytes(5000, 3))),
            std::string::npos)
      << error;
  EXPECT_EQ(scratch_.files(), 0U);
}

TEST_F(HttpDownload, AChecksumMayBeThePrefixAlone) {
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  DownloadRequest wanted = request(server);
  wanted.sha256.resize(8);
  EXPECT_EQ(get(wanted).sha256, sum_of(body_));
  wanted.sha256[0] = wanted.sha256[0] == '0' ? '1' : '0';
  error_of(wanted);
}

TEST_F(HttpDownload, APartOfAnotherFileIsThrownAway) {
  scratch_.write("file.part", many_bytes(1000, 5));
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  get(request(server));
  expect_installed();
  EXPECT_EQ(server.requests().size(), 2U);
  std::filesystem::remove(target_);
  scratch_.write("file.part", many_bytes(400'000, 5));  // longer than the file: status 416
  get(request(server));
  expect_installed();
}

TEST_F(HttpDownload, WithoutAChecksumThePartIsUsedOnlyForTheSameVersion) {
  const std::string later = many_bytes(9000, 7);
  LoopbackServer server([&](const std::string&, std::size_t number) {
    if (number >= 3) return LoopbackAnswer{200, later, "ETag: \"two\"\r\n"};
    LoopbackAnswer answer{200, body_, "ETag: \"one\"\r\n"};
    answer.cut_after = 1000;
    return answer;
  });
  DownloadRequest wanted = request(server);
  wanted.sha256.clear();
  error_of(wanted);
  EXPECT_EQ(part().size(), 3000U);
  EXPECT_EQ(get(wanted).sha256, sum_of(later));
  EXPECT_EQ(LoopbackServer::header(server.requests().back(), "If-Range"), "\"one\"");
  EXPECT_EQ(content_of(target_), later);
}

TEST_F(HttpDownload, WithoutAChecksumOrATagItStartsAgain) {
  scratch_.write("file.part", "something");
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  DownloadRequest wanted = request(server);
  wanted.sha256.clear();
  get(wanted);
  expect_installed();
  EXPECT_EQ(LoopbackServer::header(server.requests()[0], "Range"), "");
}

TEST_F(HttpDownload, AMissingFileIsAskedForOnce) {
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{404, "<html>no</html>"}; });
  EXPECT_NE(error_of(request(server)).find("status 404 (there is no such file)"), std::string::npos);
  EXPECT_EQ(server.requests().size(), 1U);
  expect_not_installed();
}

TEST_F(HttpDownload, AServerInTroubleIsAskedThreeTimes) {
  LoopbackServer server([&](const std::string&, std::size_t number) {
    return number < 2 ? LoopbackAnswer{500, "oops"} : LoopbackAnswer{200, body_};
  });
  get(request(server));
  expect_installed();
  EXPECT_EQ(server.requests().size(), 3U);
  LoopbackServer broken([&](const std::string&, std::size_t) { return LoopbackAnswer{503, "oops"}; });
  EXPECT_NE(error_of(request(broken)).find("status 503"), std::string::npos);
  EXPECT_EQ(broken.requests().size(), 3U);
  EXPECT_EQ(content_of(target_), body_) << "the file that was there stays";
}

TEST_F(HttpDownload, ASlowDripIsAStallAndTheNextCallGoesOn) {
  LoopbackServer server([&](const std::string&, std::size_t number) {
    LoopbackAnswer answer{200, body_};
    if (number == 0) answer.drip = std::chrono::milliseconds(20);
    return answer;
  });
  limits_.tries = 1;
  EXPECT_NE(error_of(request(server)).find("it stopped sending after"), std::string::npos);
  expect_not_installed();
  const std::string came = part();
  EXPECT_EQ(came, body_.substr(0, came.size()));
  get(request(server));
  expect_installed();
  const std::string rest = came.empty() ? "" : "bytes=" + std::to_string(came.size()) + "-";
  EXPECT_EQ(LoopbackServer::header(server.requests().back(), "Range"), rest);
}

TEST_F(HttpDownload, TheProxyOfTheSystemIsUsed) {
  LoopbackServer proxy([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  ::setenv("http_proxy", proxy.base().c_str(), 1);
  DownloadRequest wanted = request(proxy);
  wanted.address = "http://nets.example/net/file.pth";
  get(wanted);
  expect_installed();
  EXPECT_TRUE(proxy.requests().front().starts_with("GET http://nets.example/net/file.pth HTTP/1.1\r\n"))
      << proxy.requests().front();
}

TEST_F(HttpDownload, NobodyAnswers) {
  std::string address;
  {
    const LoopbackServer gone([&](const std::string&, std::size_t) { return LoopbackAnswer{}; });
    address = gone.base();
  }
  const std::string error = error_of({address + "/x", "a-net", "", "", 0});
  EXPECT_NE(error.find("could not download a-net from 127.0.0.1:"), std::string::npos) << error;
  EXPECT_NE(error.find("it cannot be reached: is the network up?"), std::string::npos) << error;
  const std::string unknown = error_of({"http://no-such-host.invalid/x", "a-net", "", "", 0});
  EXPECT_NE(unknown.find("could not download a-net from no-such-host.invalid: "), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("is the network up?"), std::string::npos) << unknown;
}

TEST_F(HttpDownload, AHostThatSwallowsEverythingIsGivenUp) {
  // A listener whose queue is full lets nobody in and sends nobody away.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<int> filling;
  for (int i = 0; i < 4; ++i) {
    filling.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(filling.back(), reinterpret_cast<sockaddr*>(&address), size);
  }
  limits_.connect_seconds = 0.2;
  limits_.unreachable_seconds = 1;
  const std::string error =
      error_of({"http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x", "a-net", "", "", 0});
  EXPECT_NE(error.find("it does not answer: is the network up?"), std::string::npos) << error;
  EXPECT_EQ(scratch_.files(), 0U);
  for (const int each : filling) ::close(each);
  ::close(listener);
}

TEST_F(HttpDownload, OfflineAsksNobody) {
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  ::setenv("ANNULUS_OFFLINE", "1", 1);
  EXPECT_NE(error_of(request(server)).find("a-net is not here yet, and nothing may be downloaded (offline)"),
            std::string::npos);
  EXPECT_TRUE(server.requests().empty());
  ::setenv("ANNULUS_OFFLINE", "0", 1);
  get(request(server));
  expect_installed();
}

TEST_F(HttpDownload, AMirrorStandsForEveryHost) {
  EXPECT_EQ(mirrored("https://a.example/b/c?d=e"), "https://a.example/b/c?d=e");
  ::setenv("ANNULUS_MIRROR", "http://mirror.example:8000/nets/", 1);
  EXPECT_EQ(mirrored("https://a.example/b/c?d=e"), "http://mirror.example:8000/nets/b/c?d=e");
  EXPECT_EQ(mirrored("https://a.example"), "http://mirror.example:8000/nets");
  EXPECT_THROW(mirrored("ftp://a.example/b"), Error);
  ::setenv("ANNULUS_MIRROR", "mirror.example", 1);
  EXPECT_THROW(mirrored("https://a.example/b"), Error);
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  ::setenv("ANNULUS_MIRROR", (server.base() + "/here").c_str(), 1);
  DownloadRequest wanted = request(server);
  wanted.address = "https://a.example/net/file.pth";
  get(wanted);
  expect_installed();
  EXPECT_TRUE(server.requests().front().starts_with("GET /here/net/file.pth HTTP/1.1\r\n"));
}

TEST_F(HttpDownload, AFullDiskIsOneSentenceAndThePartIsOfUse) {
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  rlimit small = usual;
  small.rlim_cur = 50'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string error = error_of(request(server));
  ::setrlimit(RLIMIT_FSIZE, &usual);
  ::signal(SIGXFSZ, before);
  EXPECT_NE(error.find("the disk is full"), std::string::npos) << error;
  expect_not_installed();
  EXPECT_EQ(part(), body_.substr(0, 50'000));
  get(request(server));
  expect_installed();
}

TEST_F(HttpDownload, StoppedByTheUserItKeepsThePart) {
  const std::string body = many_bytes(30'000'000);
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body}; });
  DownloadRequest wanted = request(server);
  wanted.sha256 = sum_of(body);
  limits_.stall_seconds = 60;  // a busy machine is no stalled server
  try {
    get(wanted, [](const Progress& progress) { return progress.done < 1000; });
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
  }
  expect_not_installed();
  EXPECT_GE(part().size(), 1000U);
  get(wanted);
  EXPECT_EQ(content_of(target_).size(), 30'000'000U);
}

TEST_F(HttpDownload, OfTwoAtOnceOneDownloads) {
  LoopbackServer server([&](const std::string&, std::size_t) {
    LoopbackAnswer answer{200, body_.substr(0, 400)};
    answer.drip = std::chrono::milliseconds(1);
    return answer;
  });
  DownloadRequest wanted = request(server);
  wanted.sha256 = sum_of(body_.substr(0, 400));
  limits_.stall_seconds = 30;
  std::optional<Download> other;
  std::thread second([&] { other = get(wanted); });
  const Download own = get(wanted);
  second.join();
  ASSERT_TRUE(other);
  EXPECT_EQ(own.sha256, other->sha256);
  EXPECT_EQ(content_of(target_), body_.substr(0, 400));
  EXPECT_EQ(scratch_.files(), 1U);
}

TEST_F(HttpDownload, AWebPageOrAnotherLengthIsNotTheFile) {
  LoopbackServer page([&](const std::string&, std::size_t) {
    return LoopbackAnswer{200, "<html>log in</html>", "Content-Type: text/html\r\n"};
  });
  DownloadRequest wanted = request(page);
  wanted.sha256.clear();
  EXPECT_NE(error_of(wanted).find("found a web page"), std::string::npos);
  expect_not_installed();
  LoopbackServer server([&](const std::string&, std::size_t) { return LoopbackAnswer{200, body_}; });
  DownloadRequest shorter = request(server);
  shorter.bytes = body_.size() - 1;
  EXPECT_NE(error_of(shorter).find("expected a-net to be 299999 bytes long, found more"), std::string::npos);
  DownloadRequest longer = request(server);
  longer.bytes = body_.size() + 1;
  EXPECT_NE(error_of(longer).find("expected a-net to be 300001 bytes long, found 300000 bytes"), std::string::npos);
  expect_not_installed();
}

TEST_F(HttpDownload, FollowsRedirections) {
  LoopbackServer server([&](const std::string& head, std::size_t) {
    if (head.starts_with("GET /net/")) return LoopbackAnswer{302, "", "Location: /there\r\n"};
    return LoopbackAnswer{200, body_};
  });
  get(request(server));
  expect_installed();
}

}  // namespace
}  // namespace annulus
