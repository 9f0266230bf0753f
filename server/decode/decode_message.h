// What the server and a process that decodes images for it tell each other: whole messages over a socket, and memory
// that both see, with the file first and the pixels after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace annulus::server {

// Descriptors that the process is started with.
inline constexpr int kDecodeSocket = 3;
inline constexpr int kDecodeMemory = 4;

// The first message, to the process; it answers with a DecodeReply when it is confined.
struct DecodeSetup {
  std::uint64_t file_bytes = 0;    // of the shared memory that hold the file
  std::uint64_t pixel_bytes = 0;   // and the pixels
  std::uint64_t memory_bytes = 0;  // that the process may take
};

struct DecodeRequest {
  std::uint64_t file_bytes = 0;
  std::uint64_t max_pixels = 0;
  std::uint64_t max_side = 0;
  std::uint64_t max_scans_of_largest = 0;
  std::int64_t deadline = 0;  // ticks of the steady clock, which all processes share
  std::uint64_t apply_exif = 0;
  std::uint64_t to_srgb = 0;
  std::array<char, 64> source{};  // ends with a zero
};

struct DecodeReply {
  std::uint64_t failed = 0;  // 1: `kind` and `message` say why
  std::uint64_t kind = 0;    // of ErrorKind
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::array<char, 1024> message{};  // ends with a zero
};

}  // namespace annulus::server
