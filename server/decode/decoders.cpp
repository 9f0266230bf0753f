// A stack of free processes and a budget of starts.
#include "server/decode/decoders.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "annulus/base/error.h"

namespace annulus::server {

Decoders::Decoders(DecoderOptions options, const DecodeLimits& limits, Ended ended)
    : options_(std::move(options)),
      limits_(limits),
      ended_(std::move(ended)),
      starts_(options_.starts_at_once),
      counted_(now()) {
  free_.push_back(std::make_unique<DecoderProcess>(options_.command, limits_));
}

// Waits for the next start of the budget and takes it.
void Decoders::wait_for_start(SteadyTime deadline, std::string_view source) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const SteadyTime moment = now();
    const double earned = std::chrono::duration<double>(moment - counted_).count() * options_.starts_per_second;
    starts_ = std::min(options_.starts_at_once, starts_ + earned);
    counted_ = moment;
    if (starts_ >= 1) break;
    if (moment >= deadline) {
      fail(ErrorKind::kCancelled, "{}: no decoder could be started in time: images ended too many", source);
    }
    const std::chrono::duration<double> next((1 - starts_) / options_.starts_per_second);
    const SteadyTime until = moment + std::chrono::ceil<SteadyTime::duration>(next);
    tick_.wait_until(lock, std::min(until, deadline));
  }
  starts_ -= 1;
}

std::unique_ptr<DecoderProcess> Decoders::take(SteadyTime deadline, std::string_view source) {
  for (;;) {
    std::unique_ptr<DecoderProcess> process;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        process = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!process) break;
    if (process->runs()) return process;
    ended_(process->end());
  }
  // One that is killed before it is ready is no fault of the image either.
  for (bool again = true;; again = false) {
    wait_for_start(deadline, source);
    try {
      return std::make_unique<DecoderProcess>(options_.command, limits_);
    } catch (const Error&) {
      if (!again) throw;
    }
  }
}

void Decoders::give_back(std::unique_ptr<DecoderProcess> process) {
  if (process->images() >= options_.images_a_process) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(process));
}

void Decoders::decode(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source,
                      const std::function<void(const Image&)>& use) {
  for (bool again = true;; again = false) {
    std::unique_ptr<DecoderProcess> process = take(options.limits.deadline, source);
    try {
      process->decode(file, options, source, use);
      return give_back(std::move(process));
    } catch (const Error&) {
      if (process->end().empty()) {
        give_back(std::move(process));
        throw;
      }
      ended_(process->end());
      if (!again || !process->ended_by_others()) throw;
    }
  }
}

}  // namespace annulus::server
