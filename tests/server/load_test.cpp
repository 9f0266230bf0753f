// Many clients at once: answers are never mixed up, too much is turned away, deadlines hold, models change under load.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "annulus/store/atomic_file.h"
#include "server/batcher.h"
#include "server/json_text.h"
#include "server/task_pool.h"
#include "tests/server/running_server.h"

namespace annulus::server {
namespace {

using std::chrono::milliseconds;

// What a server with the model of a seed says of each row of the small set.
std::vector<std::string> expected_bodies(std::uint64_t seed) {
  const ServedModel served("small", "", small_model(seed), nullptr);
  Matrix<float> rows(small_set().rows(), kDimension);
  small_set().copy_rows(0, rows.view());
  std::vector<std::string> bodies;
  for (const Answer& answer : served.recogniser(false, false).answer(std::as_const(rows).view())) {
    bodies.emplace_back("[");
    write_answer(served, answer, 5, kFalseReject, bodies.back());
    bodies.back() += "]\n";
  }
  return bodies;
}

TEST(Load, EveryRequestGetsItsOwnAnswerWhileModelsChange) {
  ServeOptions options;
  options.watch = milliseconds(20);
  options.batch.threads = 2;
  options.http.threads = 2;
  RunningServer running(options);
  const std::vector<std::string> first = expected_bodies(1);
  const std::vector<std::string> second = expected_bodies(2);
  ASSERT_NE(first, second);
  std::atomic<int> wrong{0};
  std::atomic<int> by_second{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 6; ++c) {
    clients.emplace_back([&, c] {
      RawClient client(running.port());
      for (std::size_t i = 0; !stop; ++i) {
        const std::size_t row = (c * 7 + i) % small_set().rows();
        const RawAnswer answer = client.ask("POST", "/predict", features_body(row), json_header());
        if (answer.status != 200 || (answer.body != first[row] && answer.body != second[row])) ++wrong;
        if (answer.body == second[row] && first[row] != second[row]) ++by_second;
      }
    });
  }
  std::this_thread::sleep_for(milliseconds(50));
  write_model(small_model(2), running.file());
  for (int i = 0; i < 1000 && by_second < 10; ++i) std::this_thread::sleep_for(milliseconds(10));
  // A broken file changes nothing.
  write_file(running.file(), "not a model");
  for (int i = 0; i < 1000 && running.count("model kept") == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(by_second, 10);
  EXPECT_EQ(running.count("model loaded"), 1U);
  EXPECT_EQ(running.count("model kept"), 1U);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("POST", "/v2/repository/models/small/load").status, 400);
  EXPECT_EQ(client.ask("POST", "/predict", features_body(0), json_header()).body, second[0]);
  write_model(small_model(1), running.file());
  EXPECT_EQ(client.ask("POST", "/v2/repository/models/small/load").status, 200);
  EXPECT_EQ(client.ask("POST", "/predict", features_body(0), json_header()).body, first[0]);
}

TEST(Load, TooMuchIsTurnedAwayAndLaterAnsweredAgain) {
  ServeOptions options;
  options.batch.max_queue_rows = 4;
  options.batch.max_rows = 1;
  options.batch.threads = 1;
  RunningServer running(options);
  std::atomic<int> answered{0};
  std::atomic<int> turned_away{0};
  std::atomic<int> other{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 12; ++c) {
    clients.emplace_back([&] {
      RawClient client(running.port());
      for (int i = 0; i < 50; ++i) {
        const RawAnswer answer = client.ask("POST", "/predict?explain=1", features_body(0, 4), json_header());
        if (answer.status == 200) {
          ++answered;
        } else if (answer.status == 429 && answer.value("Retry-After") == "1") {
          ++turned_away;
        } else {
          ++other;
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GT(answered, 0);
  EXPECT_GT(turned_away, 0);
  EXPECT_EQ(other, 0);
  RawClient client(running.port());
  EXPECT_EQ(client.ask("POST", "/predict", features_body(0), json_header()).status, 200);
}

TEST(Load, WhatWaitsTooLongGets504) {
  ServeOptions options;
  options.deadline = milliseconds(0);
  RunningServer running(options);
  RawClient client(running.port());
  const RawAnswer answer = client.ask("POST", "/predict", features_body(0), json_header());
  EXPECT_EQ(answer.status, 504);
  EXPECT_NE(client.ask("GET", "/metrics").body.find("annulus_rejected_total{reason=\"deadline\"} 1"),
            std::string::npos);
}

TEST(Load, StoppingAnswersWhatWasAsked) {
  ServeOptions options;
  options.batch.max_wait = milliseconds(100);
  RunningServer running(options);
  RawClient client(running.port());
  const std::string body = features_body(0);
  client.send("POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  std::this_thread::sleep_for(milliseconds(30));
  std::thread stopper([&] { running.stop(); });
  EXPECT_EQ(client.read().status, 200);
  client.close();
  stopper.join();
}

TEST(Batcher, PutsRowsTogetherAndBlamesOnlyTheGuilty) {
  Metrics metrics;
  BatchOptions options;
  options.max_wait = milliseconds(200);
  const auto model = std::make_shared<const ServedModel>("small", "", small_model(), nullptr);
  std::mutex mutex;
  std::condition_variable done;
  std::vector<BatchResult> results(3);
  std::size_t finished = 0;
  Batcher batcher(options, metrics);
  for (std::size_t i = 0; i < 3; ++i) {
    RowJob job{model, false, false, Matrix<float>(2, kDimension), Clock::now() + std::chrono::seconds(60), {}};
    small_set().copy_rows(2 * i, job.rows.view());
    if (i == 1) std::fill(job.rows.row(1).begin(), job.rows.row(1).end(), 0.0F);
    job.done = [&, i](BatchResult result) {
      const std::lock_guard lock(mutex);
      results[i] = std::move(result);
      ++finished;
      done.notify_one();
    };
    ASSERT_TRUE(batcher.submit(job));
  }
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return finished == 3; });
  EXPECT_EQ(results[0].answers.size(), 2U);
  EXPECT_EQ(results[2].answers.size(), 2U);
  ASSERT_TRUE(results[1].failure.has_value());
  EXPECT_EQ(results[1].failure->status, 422);
  EXPECT_NE(metrics.text({}).find("annulus_batch_rows_sum 6"), std::string::npos);
}

TEST(TaskPool, TakesAllOrNothingAndDropsAtTheEnd) {
  std::atomic<int> ran{0};
  std::mutex gate;
  {
    TaskPool pool("tasks", 1, 2);
    std::unique_lock held(gate);
    std::atomic<bool> inside{false};
    ASSERT_TRUE(pool.submit({[&] {
      inside = true;
      const std::lock_guard wait(gate);
      ++ran;
    }}));
    while (!inside) std::this_thread::yield();
    EXPECT_TRUE(pool.submit({[&] { ++ran; }}));
    EXPECT_FALSE(pool.submit({[&] { ++ran; }, [&] { ++ran; }}));
    EXPECT_EQ(pool.waiting(), 1U);
    held.unlock();
    for (int i = 0; i < 5000 && ran < 2; ++i) std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace annulus::server
