// The HTTP layer over real sockets: answers in order, aborted and malformed clients, streams, draining.
#include "server/http/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/fixtures/running_http.h"

namespace annulus::server {
namespace {

using std::chrono::milliseconds;

TEST(HttpServer, AnswersRequestsOfOneConnectionInOrder) {
  Running running({}, echo);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET", "/a").body, "GET /a ");
  EXPECT_EQ(client.ask("POST", "/b", "body").body, "POST /b body");
  // Several in one piece.
  std::string many;
  for (int i = 0; i < 50; ++i) many += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_TRUE(client.send(many));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.read().body, "GET /" + std::to_string(i) + " ");
}

TEST(HttpServer, HeadHasTheHeaderAlone) {
  Running running({}, echo);
  RawClient client(running.port());
  const RawResponse answer = client.ask("HEAD", "/a");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.value("Content-Length"), std::to_string(std::string("HEAD /a ").size()));
  EXPECT_EQ(client.ask("GET", "/b").body, "GET /b ");
}

TEST(HttpServer, ReadsChunkedBodiesAndSaysContinue) {
  Running running({}, echo);
  RawClient client(running.port());
  client.send("POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.read().body, "POST /c abcde");
  client.send("POST /d HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  client.send("ok");
  EXPECT_EQ(client.read().body, "POST /d ok");
}

TEST(HttpServer, AnswersFromOtherThreadsAndForTheForgetful) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  Running running({}, [&](Request&& request, Respond respond) {
    if (request.path == "/forget") return;
    if (request.path == "/throw") fail(ErrorKind::kInput, "expected less");
    const std::lock_guard lock(mutex);
    threads.emplace_back([respond, path = request.path] {
      Response response;
      response.body = path;
      respond(response);
      response.body = "a second answer";
      respond(response);
    });
  });
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET", "/x").body, "/x");
  EXPECT_EQ(client.ask("GET", "/y").body, "/y");
  EXPECT_EQ(client.ask("GET", "/forget").status, 500);
  const RawResponse rejected = client.ask("GET", "/throw");
  EXPECT_EQ(rejected.status, 422);
  EXPECT_EQ(rejected.body, "{\"error\":\"expected less\"}\n");
  for (std::thread& thread : threads) thread.join();
}

TEST(HttpServer, AnAnswerAfterTheServerHasGoneDoesNothing) {
  Respond late;
  std::atomic<bool> there{false};
  {
    HttpOptions options = small_limits();
    options.drain_time = milliseconds(50);
    Running running(options, [&](Request&&, Respond respond) {
      late = std::move(respond);
      there = true;
    });
    RawClient client(running.port());
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return there.load(); }));
    running.stop();
  }
  late(Response{});
}

TEST(HttpServer, AbortedClientsLeaveNothingBehind) {
  Running running({}, echo);
  for (int i = 0; i < 100; ++i) {
    RawClient client(running.port());
    const std::string text = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabcde";
    client.send(text.substr(0, static_cast<std::size_t>(i) % text.size()));
    if (i % 3 != 0) client.reset();
  }
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET", "/x").status, 200);
}

TEST(HttpServer, ATransferEncodingOtherThanChunkedEndsTheConnection) {
  Running running({}, echo);
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const char* coding :
       {"Transfer-Encoding: identity", "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, identity", "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding:", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"}) {
    RawClient client(running.port());
    client.send(std::string("POST /x HTTP/1.1\r\nHost: localhost\r\n") + coding + "\r\n\r\n" + hidden);
    EXPECT_EQ(client.read().status, 400) << coding;
    EXPECT_TRUE(client.ended()) << coding;
  }
  RawClient old(running.port());
  old.send("POST /x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden);
  EXPECT_EQ(old.read().status, 400);
  EXPECT_TRUE(old.ended());
  RawClient fine(running.port());
  fine.send("POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\ny\r\n0\r\n\r\n");
  EXPECT_EQ(fine.read().body, "POST /x y");
}

TEST(HttpServer, MalformedRequestsGet400OrTheEnd) {
  Running running(small_limits(), echo);
  const std::string good = "POST /a?b=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabcde";
  std::uint32_t random = 12345;
  const auto next = [&random](std::size_t below) {
    random = random * 1664525U + 1013904223U;
    return static_cast<std::size_t>(random >> 8U) % below;
  };
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (std::size_t change = 0; change <= next(4); ++change) {
      const std::size_t at = next(bad.size());
      if (next(3) == 0) {
        bad.erase(at, next(8));
      } else if (next(2) == 0) {
        bad.insert(at, std::string(1 + next(3), static_cast<char>(next(256))));
      } else {
        bad[at] = static_cast<char>(next(256));
      }
      if (bad.empty()) bad = "\r";
    }
    RawClient client(running.port());
    client.send(bad + "\r\n\r\n");
    ::shutdown(client.descriptor(), SHUT_WR);
    const int status = client.read().status;
    EXPECT_TRUE(status == 0 || status == 200 || (status >= 400 && status < 500)) << status << ": " << bad;
  }
  RawClient client(running.port());
  EXPECT_EQ(client.ask("GET", "/x").status, 200);
}

TEST(HttpServer, StreamsEventsUntilOneSideEnds) {
  std::mutex mutex;
  std::vector<std::shared_ptr<EventStream>> streams;
  const auto stream = [&](std::size_t which) {
    for (;; std::this_thread::sleep_for(milliseconds(1))) {
      const std::lock_guard lock(mutex);
      if (streams.size() > which) return streams[which];
    }
  };
  Running running({}, [&](Request&&, const Respond& respond) {
    Response response;
    response.stream = [&](std::shared_ptr<EventStream> opened) {
      const std::lock_guard lock(mutex);
      streams.push_back(std::move(opened));
    };
    respond(std::move(response));
  });
  RawClient client(running.port());
  client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(stream(0)->send("progress", "1\n2"));
  EXPECT_TRUE(stream(0)->send("", "bye"));
  stream(0)->close();
  std::string all;
  for (std::string more = client.some(); !more.empty(); more = client.some()) all += more;
  EXPECT_NE(all.find("Content-Type: text/event-stream\r\n"), std::string::npos) << all;
  EXPECT_TRUE(all.ends_with("event: progress\ndata: 1\ndata: 2\n\ndata: bye\n\n")) << all;
  EXPECT_FALSE(stream(0)->send("", "late"));

  RawClient leaver(running.port());
  leaver.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(stream(1)->connected());
  leaver.reset();
  EXPECT_TRUE(eventually([&] { return !stream(1)->connected(); }));

  // A client that reads nothing is left before it costs much.
  RawClient deaf(running.port());
  deaf.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto third = stream(2);
  const std::string large(std::size_t{256} << 10, 'x');
  bool sent = true;
  for (int i = 0; i < 1000 && sent; ++i) sent = third->send("", large);
  EXPECT_FALSE(sent);
}

TEST(HttpServer, StoppingFinishesWhatIsUnderWay) {
  std::mutex mutex;
  std::vector<Respond> held;
  auto running = std::make_unique<Running>(small_limits(), [&](Request&&, Respond respond) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(respond));
  });
  RawClient idle(running->port());
  RawClient busy(running->port());
  busy.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return !held.empty();
  }));
  running->server().stop();
  EXPECT_TRUE(idle.ended());
  EXPECT_THROW(RawClient{running->port()}, std::runtime_error);
  Response response;
  response.body = "whole";
  held.front()(response);
  const RawResponse answer = busy.read();
  EXPECT_EQ(answer.body, "whole");
  EXPECT_EQ(answer.value("Connection"), "close");
  EXPECT_TRUE(busy.ended());
  busy.close();
  running.reset();
}

TEST(HttpServer, StoppingAnswersWhatWasSentBefore) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> blocked{false};
    std::atomic<bool> go{false};
    Running running({}, [&](Request&& request, const Respond& respond) {
      if (request.path == "/block") {
        blocked = true;
        eventually([&] { return go.load(); });
      }
      echo(std::move(request), respond);
    });
    // The only thread of the server is busy: what comes now waits in sockets, and in the queue of the listener.
    RawClient known(running.port());
    ASSERT_EQ(known.ask("GET", "/first").status, 200);
    RawClient busy(running.port());
    busy.send_request("GET", "/block");
    ASSERT_TRUE(eventually([&] { return blocked.load(); }));
    known.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nGET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::vector<std::unique_ptr<RawClient>> fresh;
    for (int i = 0; i < 20; ++i) {
      fresh.push_back(std::make_unique<RawClient>(running.port()));
      fresh.back()->send_request("GET", "/fresh");
    }
    running.server().stop();
    go = true;
    EXPECT_EQ(busy.read().status, 200);
    EXPECT_EQ(known.read().body, "GET /a ");
    const RawResponse last = known.read();
    EXPECT_EQ(last.body, "GET /b ");
    EXPECT_EQ(last.value("Connection"), "close");
    for (const auto& client : fresh) {
      const RawResponse answer = client->read();
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.value("Connection"), "close");
      client->close();
    }
    known.close();
    busy.close();
  }
}

TEST(HttpServer, StoppingTakesRequestsForAMoment) {
  HttpOptions options;
  options.grace_time = kPatience;  // ended by the time for all
  options.drain_time = milliseconds(1'000);
  Running running(options, echo);
  RawClient known(running.port());
  ASSERT_EQ(known.ask("GET", "/first").value("Connection"), "keep-alive");
  running.server().stop();
  // Until the stop has begun responses say nothing of it.
  RawResponse answer;
  for (int i = 0; i < 1'000'000 && answer.value("Connection") != "close"; ++i) {
    answer = known.ask("GET", "/more");
    ASSERT_EQ(answer.status, 200);
  }
  EXPECT_EQ(answer.value("Connection"), "close");
  RawClient fresh(running.port());
  EXPECT_EQ(fresh.ask("GET", "/fresh").value("Connection"), "close");
}

TEST(HttpServer, ManyClientsOnTwoThreadsGetTheirOwnAnswers) {
  HttpOptions options;
  options.threads = 2;
  Running running(options, echo);
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      RawClient client(running.port());
      for (int i = 0; i < 200; ++i) {
        const std::string body = std::to_string(c * 1000 + i);
        if (client.ask("POST", "/e", body).body != "POST /e " + body) ++wrong;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HttpServer, SaysWhyItCannotListen) {
  HttpServer first({}, echo);
  HttpOptions options;
  options.port = first.port();
  try {
    HttpServer second(options, echo);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(error.what()).find("cannot listen on 127.0.0.1 port"), std::string::npos);
  }
  options.address = "a name";
  EXPECT_THROW(HttpServer(options, echo), Error);
}

}  // namespace
}  // namespace annulus::server
