// Processes that decode images are started again, at a bounded rate, and replaced now and then.
#include "server/decode/decoders.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "annulus/base/error.h"
#include "tests/fixtures/hostile_decoders.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/running_server.h"

namespace annulus::server {
namespace {

constexpr std::string_view kGood = "read";  // an image of one pixel

DecoderOptions options_of(std::size_t images = 1000) {
  DecoderOptions options;
  options.command = hostile_decoder();
  options.images_a_process = images;
  return options;
}

// Whether the file became an image.
bool decodes(Decoders& decoders, std::string_view file, const DecodeOptions& options = without_deadline()) {
  std::size_t width = 0;
  try {
    decoders.decode(bytes_of(file), options, "the image", [&](const Image& image) { width = image.width; });
  } catch (const Error&) {
    return false;
  }
  return width == 1;
}

TEST(Decoders, StartAnotherProcessForTheNextImage) {
  std::vector<std::string> ends;
  Decoders decoders(options_of(), tiny_images(), [&](const std::string& reason) { ends.push_back(reason); });
  EXPECT_TRUE(decodes(decoders, kGood));
  EXPECT_FALSE(decodes(decoders, "exit"));
  EXPECT_TRUE(decodes(decoders, kGood));
  EXPECT_FALSE(decodes(decoders, "exit"));
  EXPECT_FALSE(decodes(decoders, "loop", in_half_a_second()));
  EXPECT_TRUE(decodes(decoders, kGood));
  EXPECT_EQ(ends, (std::vector<std::string>{"exit code 3", "exit code 3", "deadline"}));
}

TEST(Decoders, StartNoMoreThanTheBudgetAllows) {
  DecoderOptions options = options_of();
  options.starts_at_once = 2;
  options.starts_per_second = 0.001;
  Decoders decoders(options, tiny_images(), [](const std::string&) {});
  // The first was started at the beginning, two are in the budget.
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(decodes(decoders, "exit"));
  try {
    decoders.decode(bytes_of(kGood), in_half_a_second(), "the image", [](const Image&) {});
    FAIL() << "a fourth process was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
    EXPECT_STREQ(error.what(), "the image: no decoder could be started in time: images ended too many");
  }
}

TEST(Decoders, WaitForTheBudget) {
  DecoderOptions options = options_of();
  options.starts_at_once = 1;
  options.starts_per_second = 50;
  Decoders decoders(options, tiny_images(), [](const std::string&) {});
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(decodes(decoders, "exit"));
  EXPECT_TRUE(decodes(decoders, kGood));
}

// An image does not pay for a process that somebody killed, unless it is killed again.
TEST(Decoders, AnImageGoesToAnotherProcessOnceWhenOthersEndedItsOwn) {
  std::vector<std::string> ends;
  Decoders decoders(options_of(), tiny_images(), [&](const std::string& reason) { ends.push_back(reason); });
  EXPECT_FALSE(decodes(decoders, "killed"));
  EXPECT_EQ(ends, (std::vector<std::string>{"signal 9", "signal 9"}));
  EXPECT_FALSE(decodes(decoders, "exit"));
  EXPECT_EQ(ends.size(), 3U);
  EXPECT_TRUE(decodes(decoders, kGood));
}

TEST(Decoders, SeveralThreadsEachHaveTheirOwn) {
  std::atomic<int> ends{0};
  std::atomic<int> wrong{0};
  Decoders decoders(options_of(7), tiny_images(), [&](const std::string&) { ++ends; });
  std::latch done(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const bool hostile = (i + t) % 10 == 0;
        if (decodes(decoders, hostile ? "exit" : kGood) == hostile) ++wrong;
      }
      // Processes end with the thread that started them.
      done.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  // Replacing a process after seven images is no end before its time.
  EXPECT_EQ(ends, 6);
}

class ServedImages : public NeedsOnnxRuntime {};

// Beside a server: the request has a sentence, others have answers, the process that serves goes on.
TEST_F(ServedImages, HostileImagesCostTheirOwnRequest) {
  ServeOptions options = image_options();
  options.image_threads = 2;
  options.deadline = std::chrono::seconds(10);
  options.image = tiny_images();
  options.decoder.command = hostile_decoder();
  RunningServer running(options, {}, model_of_set(six_classes(5)));
  RawClient client(running.port());
  const auto ask = [&](const std::string& image) { return client.ask("POST", "/embed", image); };
  const std::string good = "pixel";  // also where sanitizers keep the process from being confined
  const RawResponse before = ask(good);
  ASSERT_EQ(before.status, 200) << before.body;
  for (const char* hostile : {"exit", "crash", "abort", "lie"}) {
    const RawResponse answer = ask(hostile);
    EXPECT_EQ(answer.status, 422) << hostile << answer.body;
    EXPECT_NE(answer.body.find("the image cannot be decoded"), std::string::npos) << answer.body;
    EXPECT_EQ(ask(good).body, before.body);
  }
  EXPECT_EQ(ask("loop").status, 504);
  EXPECT_EQ(ask(good).body, before.body);
  if (!runs_sanitized()) {
    EXPECT_EQ(ask("memory").status, 422);
    EXPECT_EQ(ask(good).body, before.body);
  }
  EXPECT_EQ(running.count("decoder ended"), 5U);
  const std::string metrics = client.ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("annulus_decoders_ended_total{reason=\"exit code 3\"} 1"), std::string::npos) << metrics;
}

TEST(Served, AServerWithoutDecodersIsNotStarted) {
  ServeOptions options;
  options.decoder.command = {"/nowhere"};
  try {
    const RunningServer running(options);
    FAIL() << "it was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.field(), "no_sandbox");
    EXPECT_EQ(error.message_with("--no-sandbox"),
              "expected --no-sandbox where images cannot be decoded in a process of their own without files and "
              "network, found that they cannot: could not run /nowhere: No such file or directory");
  }
  options.features_only = true;
  const RunningServer running(options);
}

}  // namespace
}  // namespace annulus::server
