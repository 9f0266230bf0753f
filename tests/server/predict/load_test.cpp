// Many clients at once: answers are never mixed up, too much is turned away, deadlines hold, models change under load.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "annulus/store/files/atomic_file.h"
#include "annulus/vision/image/svg.h"
#include "server/http/task_pool.h"
#include "server/predict/batcher.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/running_server.h"

namespace annulus::server {
namespace {

using std::chrono::milliseconds;

// What a server with the model of a seed says of each row of the small set.
std::vector<std::string> expected_bodies(std::uint64_t seed) {
  const ServedModel served("small", "", small_model(seed), nullptr);
  Matrix<float> rows(small_set().rows(), kDimension);
  small_set().copy_rows(0, rows.view());
  std::vector<std::string> bodies;
  for (const Prediction& prediction : served.predictor(false, false).predict(std::as_const(rows).view())) {
    bodies.emplace_back("[");
    served.write_json(prediction, 0, 5, kFalseReject, bodies.back());
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
  std::atomic<int> by_first{0};
  std::atomic<int> by_second{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 6; ++c) {
    clients.emplace_back([&, c] {
      RawClient client(running.port());
      for (std::size_t i = 0; !stop; ++i) {
        const std::size_t row = (c * 7 + i) % small_set().rows();
        const RawResponse answer = client.ask("POST", "/predict", features_body(row), json_header());
        if (answer.status != 200 || (answer.body != first[row] && answer.body != second[row])) ++wrong;
        if (first[row] != second[row]) ++(answer.body == second[row] ? by_second : by_first);
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return by_first >= 10; }));
  write_model(small_model(2), running.file());
  EXPECT_TRUE(eventually([&] { return by_second >= 10; }));
  // A broken file changes nothing.
  write_file(running.file(), "not a model");
  EXPECT_TRUE(eventually([&] { return running.count("model kept") > 0; }));
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(running.count("model loaded"), 1U);
  EXPECT_GE(running.count("model kept"), 1U);  // it is tried again
  RawClient client(running.port());
  EXPECT_EQ(client.ask("POST", "/v2/repository/models/small/load").status, 400);
  EXPECT_EQ(client.ask("POST", "/predict", features_body(0), json_header()).body, second[0]);
  write_model(small_model(1), running.file());
  EXPECT_EQ(client.ask("POST", "/v2/repository/models/small/load").status, 200);
  EXPECT_EQ(client.ask("POST", "/predict", features_body(0), json_header()).body, first[0]);
}

TEST(Load, TooMuchIsTurnedAwayAndLaterAnsweredAgain) {
  // One row waits for a second like it; others stay in the queue meanwhile.
  ServeOptions options;
  options.batch.max_queue_rows = 4;
  options.batch.max_rows = 2;
  options.batch.max_wait = std::chrono::hours(1);
  options.batch.threads = 1;
  options.deadline = std::chrono::hours(1);
  RunningServer running(options);
  RawClient waiting(running.port());
  waiting.send_request("POST", "/predict", features_body(0), json_header());
  RawClient queued(running.port());
  queued.send_request("POST", "/predict?explain=1", features_body(0, 3), json_header());
  RawClient client(running.port());
  ASSERT_TRUE(eventually(
      [&] { return client.ask("GET", "/metrics").body.find("annulus_queue_rows 3\n") != std::string::npos; }));
  for (int i = 0; i < 3; ++i) {
    const RawResponse full = client.ask("POST", "/predict", features_body(0, 2), json_header());
    EXPECT_EQ(full.status, 429);
    EXPECT_EQ(full.value("Retry-After"), "1");
  }
  EXPECT_EQ(client.ask("POST", "/predict", features_body(1), json_header()).status, 200);
  EXPECT_EQ(waiting.read().status, 200);
  EXPECT_EQ(queued.read().status, 200);
  EXPECT_EQ(client.ask("POST", "/predict", features_body(0, 2), json_header()).status, 200);
}

TEST(Load, AFloodIsAnsweredOrTurnedAway) {
  ServeOptions options;
  options.batch.max_queue_rows = 4;
  options.batch.max_rows = 1;
  options.batch.threads = 1;
  RunningServer running(options);
  std::atomic<int> answered{0};
  std::atomic<int> other{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 12; ++c) {
    clients.emplace_back([&] {
      RawClient client(running.port());
      for (int i = 0; i < 50; ++i) {
        const int status = client.ask("POST", "/predict?explain=1", features_body(0, 4), json_header()).status;
        if (status == 200) ++answered;
        if (status != 200 && status != 429) ++other;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GT(answered, 0);
  EXPECT_EQ(other, 0);
}

TEST(Load, WhatWaitsTooLongGets504) {
  ServeOptions options;
  options.deadline = milliseconds(0);
  RunningServer running(options);
  RawClient client(running.port());
  const RawResponse answer = client.ask("POST", "/predict", features_body(0), json_header());
  EXPECT_EQ(answer.status, 504);
  EXPECT_NE(client.ask("GET", "/metrics").body.find("annulus_rejected_total{reason=\"deadline\"} 1"),
            std::string::npos);
}

TEST(Load, TheDeadlineOfALargeBodyBeginsBeforeItIsRead) {
  ServeOptions options;
  options.deadline = milliseconds(0);
  RunningServer running(options);
  RawClient client(running.port());
  // Nobody looks at a body that has waited too long, or these would get 400.
  const std::string large(std::size_t{100} << 10, '{');
  for (const char* path : {"/predict", "/embed", "/v2/models/small/infer"}) {
    EXPECT_EQ(client.ask("POST", path, large, json_header()).status, 504) << path;
    EXPECT_EQ(client.ask("POST", path, "{", json_header()).status, 400) << path;
  }
  EXPECT_NE(client.ask("GET", "/metrics").body.find("annulus_rejected_total{reason=\"deadline\"} 3"),
            std::string::npos);
}

TEST(Load, StoppingAnswersWhatWasAsked) {
  ServeOptions options;
  options.http.drain_time = kPatience;
  RunningServer running(options);
  RawClient client(running.port());
  const std::string body = features_body(0);
  client.send(
      "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  std::thread stopper([&] { running.stop(); });
  // The request is under way; the server has begun to stop once it takes no connection.
  EXPECT_TRUE(eventually([&] {
    try {
      const RawClient another(running.port());
      return false;
    } catch (const std::runtime_error&) {
      return true;
    }
  }));
  client.send(body);
  EXPECT_EQ(client.read().status, 200);
  client.close();
  stopper.join();
}

TEST(Load, ALoadThatFailedIsTriedAgain) {
  ServeOptions options;
  options.watch = std::chrono::milliseconds(20);
  RunningServer running(options);
  RawClient client(running.port());
  const std::string before = client.ask("GET", "/v2/models/small").body;
  // No file can be opened for a while, but the new one has come by then.
  write_model(small_model(7), running.file() + ".new");
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{0, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::error_code error;
  std::filesystem::rename(running.file() + ".new", running.file(), error);
  const bool failed = eventually([&] { return running.count("model kept") > 0; });
  ::setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_FALSE(error) << error.message();
  EXPECT_TRUE(failed);
  EXPECT_EQ(running.count("model loaded"), 0U);
  EXPECT_TRUE(eventually([&] { return running.count("model loaded") > 0; }));
  EXPECT_NE(client.ask("GET", "/v2/models/small").body, before);
}

class LoadImages : public NeedsOnnxRuntime {};

TEST_F(LoadImages, AModelWhoseBackboneDoesNotFitLeavesTheOneThatAnswersPhotos) {
  ServeOptions options;
  options.encoder.backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  options.encoder.preprocess = "unit resize=8x8 crop=none";
  RunningServer running(options, {}, model_of_set(six_classes(5)));
  RawClient client(running.port());
  const auto picture = render_svg(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="5" fill="red"/></svg>)", 16,
      "test picture");
  const std::string bytes(reinterpret_cast<const char*>(picture.data()), picture.size());
  const auto predicted = [&] { return client.ask("POST", "/predict", bytes, {"Content-Type: image/png"}); };
  const RawResponse before = predicted();
  EXPECT_EQ(before.status, 200) << before.body;
  // Features of another dimension than the network gives.
  write_model(small_model(), running.file());
  const RawResponse loaded = client.ask("POST", "/v2/repository/models/small/load", "{}");
  EXPECT_EQ(loaded.status, 422) << loaded.body;
  EXPECT_NE(loaded.body.find("expected a backbone of 16 dimensions"), std::string::npos) << loaded.body;
  EXPECT_EQ(client.ask("GET", "/v2/health/ready").status, 200);
  EXPECT_EQ(predicted().body, before.body);
}

TEST(Load, StopsWhileAModelIsBeingLoaded) {
  const Folder folder;
  write_model(small_model(), folder / "small.safetensors");
  std::atomic<bool> loading{false};
  std::atomic<bool> stopping{false};
  bool stopped_in_time = false;
  ServeOptions options;
  options.http.port = 0;
  PredictServer server(options, {{"small", folder / "small.safetensors"}}, [&](const LogEvent& event) {
    if (event.event == "stopping") stopping = true;
  });
  server.run([&] { return loading.load(); },
             [&] {
               if (loading.exchange(true)) return false;
               stopped_in_time = eventually([&] { return stopping.load(); });
               return true;
             });
  EXPECT_TRUE(stopped_in_time);
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
  EXPECT_EQ(results[0].predictions.size(), 2U);
  EXPECT_EQ(results[2].predictions.size(), 2U);
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
    EXPECT_TRUE(eventually([&] { return ran == 2; }));
  }
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace annulus::server
