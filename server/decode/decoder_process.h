// One process that decodes images, and the memory that it shares with this one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/vision/image/image.h"
#include "server/decode/decode_message.h"

namespace annulus::server {

class DecoderProcess {
 public:
  // `command`: a program and its arguments, which calls run_decode_worker. It gets no environment but what the loader
  // of programs and the sanitizers read, and ends with the thread that starts it here. Throws Error{kIo} with the
  // reason when it cannot be started or confined.
  DecoderProcess(const std::vector<std::string>& command, const DecodeLimits& limits);
  ~DecoderProcess();
  DecoderProcess(const DecoderProcess&) = delete;
  DecoderProcess& operator=(const DecoderProcess&) = delete;

  // Decodes a file and calls `use`; the pixels are the shared memory, and go with the call. Throws the Error of the
  // decoder; Error{kCancelled} when the deadline passes, wherever the decoder is by then; Error{kFormat} when the
  // process ends. After the last two it has ended.
  void decode(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source,
              const std::function<void(const Image&)>& use);

  // Also finds out that somebody else ended it.
  bool runs();
  // "signal 11", "exit code 1"; empty while it runs.
  const std::string& end() const { return end_; }
  // Whether the end was a signal that is sent by others, and no fault.
  bool ended_by_others() const { return ended_by_others_; }
  std::size_t images() const { return images_; }
  pid_t id() const { return process_; }

 private:
  void start(const std::vector<std::string>& command, int socket);
  bool send(const void* message, std::size_t size) const;
  bool wait_for(DecodeReply& reply, SteadyTime until) const;
  void collect(int status);
  void kill_and_collect();
  void forget_pages(std::size_t file_bytes, std::size_t pixel_bytes);
  void release();

  DecodeSetup setup_;
  int memory_ = -1;
  int socket_ = -1;
  std::byte* shared_ = nullptr;
  pid_t process_ = 0;  // 0: collected
  std::string end_;
  bool ended_by_others_ = false;
  std::size_t images_ = 0;
};

// What a process that decodes may take: room for the largest image in the forms that decoders keep it in.
std::size_t decoder_memory(const DecodeLimits& limits);

}  // namespace annulus::server
