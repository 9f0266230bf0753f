// The processes that decode images for the server: as many as decode at a time, started again when one ends.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/vision/image/image.h"
#include "server/decode/decoder_process.h"

namespace annulus::server {

struct DecoderOptions {
  std::vector<std::string> command;     // of DecoderProcess
  std::size_t images_a_process = 1000;  // then another takes its place
  // How often processes may be started: so many at once, and a second. Decoding then waits, at most for its deadline.
  double starts_at_once = 32;
  double starts_per_second = 16;
};

// Safe from several threads.
class Decoders {
 public:
  // Hears why a process ended before its time: "signal 11", "deadline".
  using Ended = std::function<void(const std::string& reason)>;

  // Starts one process, so that a machine that refuses is known at once; throws as DecoderProcess does.
  Decoders(DecoderOptions options, const DecodeLimits& limits, Ended ended);

  // As DecoderProcess::decode, by a process that is free. One that others killed does not count: the image goes to
  // another, once. Throws Error{kCancelled} also when none may be started before the deadline.
  void decode(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source,
              const std::function<void(const Image&)>& use);

 private:
  std::unique_ptr<DecoderProcess> take(SteadyTime deadline, std::string_view source);
  void give_back(std::unique_ptr<DecoderProcess> process);
  void wait_for_start(SteadyTime deadline, std::string_view source);

  DecoderOptions options_;
  DecodeLimits limits_;
  Ended ended_;
  std::mutex mutex_;
  std::condition_variable tick_;
  std::vector<std::unique_ptr<DecoderProcess>> free_;
  double starts_;  // that may be made now
  SteadyTime counted_;
};

}  // namespace annulus::server
