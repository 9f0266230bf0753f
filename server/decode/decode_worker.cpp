// Reads a request, decodes the file in the shared memory, puts the pixels after it.
#include "server/decode/decode_worker.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "annulus/base/error.h"
#include "server/decode/decode_message.h"
#include "server/decode/sandbox.h"

namespace annulus::server {
namespace {

// Nothing where the other side has closed the socket.
template <class Message>
std::optional<Message> next_message() {
  Message message;
  for (;;) {
    const ssize_t size = ::read(kDecodeSocket, &message, sizeof(message));
    if (size == static_cast<ssize_t>(sizeof(message))) return message;
    if (size >= 0 || errno != EINTR) return std::nullopt;
  }
}

bool answer(const DecodeReply& reply) {
  for (;;) {
    if (::write(kDecodeSocket, &reply, sizeof(reply)) == static_cast<ssize_t>(sizeof(reply))) return true;
    if (errno != EINTR) return false;
  }
}

DecodeReply failure(ErrorKind kind, std::string_view why) {
  DecodeReply reply;
  reply.failed = 1;
  reply.kind = static_cast<std::uint64_t>(kind);
  std::copy_n(why.begin(), std::min(why.size(), reply.message.size() - 1), reply.message.begin());
  return reply;
}

// The memory that the server shares.
struct SharedBytes {
  std::byte* begin = nullptr;
  DecodeSetup setup;

  std::span<const std::byte> file(std::size_t bytes) const { return {begin, std::min(bytes, setup.file_bytes)}; }
  std::byte* pixels() const { return begin + setup.file_bytes; }
};

DecodeReply reply_to(const DecodeRequest& request, const SharedBytes& shared, const DecodeFunction& decode) {
  DecodeOptions options;
  options.apply_exif = request.apply_exif != 0;
  options.to_srgb = request.to_srgb != 0;
  options.limits.max_pixels = request.max_pixels;
  options.limits.max_side = request.max_side;
  options.limits.max_bytes = shared.setup.file_bytes;
  options.limits.max_scans_of_largest = request.max_scans_of_largest;
  options.limits.deadline = SteadyTime(SteadyTime::duration(request.deadline));
  const std::string_view source(request.source.data(), ::strnlen(request.source.data(), request.source.size()));
  try {
    const Image image = decode(shared.file(request.file_bytes), options, source);
    const std::size_t bytes = 3 * image.width * image.height;
    if (bytes > shared.setup.pixel_bytes) {
      fail(ErrorKind::kFormat, "{}: the image is {} x {} pixels, more than the limit of {} pixels", source, image.width,
           image.height, shared.setup.pixel_bytes / 3);
    }
    std::memcpy(shared.pixels(), image.pixels.get(), bytes);
    DecodeReply reply;
    reply.width = image.width;
    reply.height = image.height;
    return reply;
  } catch (const Error& error) {
    return failure(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return failure(ErrorKind::kFormat,
                   fmt::format("{}: decoding it takes more than the {} MB of memory that there are for an image",
                               source, shared.setup.memory_bytes >> 20));
  } catch (const std::exception& error) {
    return failure(ErrorKind::kInternal, fmt::format("{}: {}", source, error.what()));
  }
}

// What decoders load or make once is there before the filter is: each meets a file that is none of its own.
void warm_up() {
  using namespace std::string_view_literals;
  for (const std::string_view head :
       {"\xFF\xD8\xFF\xE0"sv, "\x89PNG\r\n\x1A\n"sv, "RIFF\x10\0\0\0WEBPVP8 "sv,
        "\0\0\0\x18"
        "ftypheic\0\0\0\0mif1heic"sv,
        "\0\0\0\x18"
        "ftypavif\0\0\0\0mif1avif"sv,
        "II*\0\x08\0\0\0\0\0\0\0\0\0"sv, "GIF89a\1\0\1\0\0\0\0;"sv, "\xFF\x0A\0\0\0\0"sv, "FUJIFILMCCD-RAW 0201"sv}) {
    try {
      decode_image(std::as_bytes(std::span(head)), {}, "warm-up");
    } catch (const Error&) {
      // As expected: there is no picture in them.
    }
  }
}

}  // namespace

int run_decode_worker(const DecodeFunction& decode) {
  const std::optional<DecodeSetup> setup = next_message<DecodeSetup>();
  if (!setup) return 1;
  SharedBytes shared{nullptr, *setup};
  try {
    void* const memory =
        ::mmap(nullptr, setup->file_bytes + setup->pixel_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kDecodeMemory, 0);
    if (memory == MAP_FAILED) fail(ErrorKind::kIo, "the memory that is shared with the server cannot be mapped");
    shared.begin = static_cast<std::byte*>(memory);
    ::close(kDecodeMemory);
    limit_process(setup->memory_bytes);
    warm_up();
    confine_process(kDecodeSocket);
  } catch (const Error& error) {
    answer(failure(error.kind(), error.what()));
    return 1;
  }
  if (!answer({})) return 1;
  while (const std::optional<DecodeRequest> request = next_message<DecodeRequest>()) {
    if (!answer(reply_to(*request, shared, decode))) return 1;
  }
  return 0;
}

}  // namespace annulus::server
