// The real process that decodes images, confined as ever, but with a decoder that does on purpose what a file says.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "server/decode/decode_message.h"
#include "server/decode/decode_worker.h"

extern char** environ;

namespace annulus::server {
namespace {

// One pixel whose red says something.
Image pixel_of(int value) {
  Image image = make_image(1, 1);
  std::memset(image.pixels.get(), 0, 3);
  image.pixels[0] = static_cast<std::uint8_t>(value);
  return image;
}

void take_memory() {
  constexpr std::size_t kBlock = std::size_t{16} << 20;
  std::vector<std::unique_ptr<char[]>> taken;
  for (;;) taken.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
}

[[noreturn]] void loop() {
  for (std::atomic<std::uint64_t> turns{0};; ++turns) {
  }
}

// The last page belongs to the kernel. The first one will not do: it may be there beside a sanitizer.
void crash() {
  auto* const nowhere = reinterpret_cast<volatile int*>(~std::uintptr_t{4095});
  *nowhere = 1;
}

void lie() {
  DecodeReply reply;
  reply.width = std::uint64_t{1} << 40;
  reply.height = std::uint64_t{1} << 40;
  if (::write(kDecodeSocket, &reply, sizeof(reply)) < 0) std::_Exit(9);
}

Image misbehave(std::span<const std::byte> file, const DecodeOptions& options, std::string_view source) {
  const std::string act(reinterpret_cast<const char*>(file.data()), file.size());
  if (act == "pixel") return pixel_of(200);
  if (act == "crash") crash();
  if (act == "abort") std::abort();
  if (act == "loop") loop();
  if (act == "memory") take_memory();
  if (act == "killed") std::raise(SIGKILL);
  if (act == "exit") std::_Exit(3);
  if (act == "lie") lie();
  if (act == "fork" && ::fork() == 0) std::_Exit(0);
  if (act == "socket") return pixel_of(::socket(AF_INET, SOCK_STREAM, 0));
  if (act == "execute") ::execl("/bin/true", "true", nullptr);
  if (act == "read") return pixel_of(::open("/etc/passwd", O_RDONLY) < 0 ? errno : 0);
  if (act == "descriptors") {
    int open = 0;
    for (int i = 3; i < 64; ++i) open += ::dup2(i, i) == i ? 1 : 0;
    return pixel_of(open);
  }
  if (act == "environment") {
    std::string all;
    for (char** entry = environ; *entry != nullptr; ++entry) all += std::string(*entry) + " ";
    fail(ErrorKind::kFormat, "found [{}]\nin {}", all, source);
  }
  return decode_image(file, options, source);
}

}  // namespace
}  // namespace annulus::server

int main() { std::_Exit(annulus::server::run_decode_worker(annulus::server::misbehave)); }
