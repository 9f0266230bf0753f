// Bounded reads of image files. Copied, not mapped: a file that is truncated meanwhile must not end the program.
#include "annulus/store/images/image_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "annulus/base/error.h"
#include "annulus/store/files/file_descriptor.h"
#include "annulus/store/images/example_image.h"

namespace annulus {
namespace {

[[noreturn]] void fail_to(const char* action, const std::filesystem::path& path) {
  fail(ErrorKind::kIo, "{}: cannot be {}: {}", path.string(), action, std::generic_category().message(errno));
}

}  // namespace

std::vector<std::byte> load_image_bytes(const std::filesystem::path& path, std::size_t max_bytes) {
  // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) fail_to("opened", path);
  struct stat status = {};
  if (::fstat(file.number, &status) != 0) fail_to("examined", path);
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorKind::kIo, "{}: expected an image file, found a {}", path.string(),
         S_ISDIR(status.st_mode) ? "folder" : "device or pipe");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > max_bytes) {
    fail(ErrorKind::kFormat, "{}: the image file has {} bytes, more than the limit of {}", path.string(), size,
         max_bytes);
  }
  std::vector<std::byte> bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(file.number, bytes.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to("read", path);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  return ExampleImages(options).open(path.string()).image();
}

}  // namespace annulus
