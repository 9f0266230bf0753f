// Lines with checksums: append, fsync; a torn last line is truncated.
#include "annulus/store/files/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus {
namespace {

constexpr std::size_t kChecksumDigits = 16;

std::string line_of(std::string_view text) {
  std::string line = sha256_hex(std::as_bytes(std::span(text))).substr(0, kChecksumDigits);
  line += ' ';
  line += text;
  line += '\n';
  return line;
}

// The text of a line without its line break; empty if its checksum does not match.
bool whole(std::string_view line, std::string_view& text) {
  if (line.size() <= kChecksumDigits || line[kChecksumDigits] != ' ') return false;
  text = line.substr(kChecksumDigits + 1);
  return sha256_hex(std::as_bytes(std::span(text))).compare(0, kChecksumDigits, line, 0, kChecksumDigits) == 0;
}

}  // namespace

Journal::Journal(const std::filesystem::path& file, const std::function<void(std::string_view)>& replay) : file_(file) {
  if (!std::filesystem::exists(file)) write_file(file, "");
  std::uint64_t good = 0;
  if (std::filesystem::file_size(file) > 0) {
    const MappedFile mapped(file);
    const std::string_view all = as_text(mapped.bytes());
    for (std::size_t number = 1; good < all.size(); ++number) {
      const std::size_t end = all.find('\n', good);
      std::string_view text;
      if (end == std::string_view::npos || !whole(all.substr(good, end - good), text)) {
        if (end != std::string_view::npos && end + 1 < all.size()) {
          fail(ErrorKind::kFormat, "{}: expected a line that fits its checksum, found line {} damaged", file.string(),
               number);
        }
        break;
      }
      replay(text);
      good = end + 1;
    }
  }
  open_file();
  if (::ftruncate(descriptor_, static_cast<off_t>(good)) != 0) fail_with("repaired");
  bytes_ = good;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::open_file() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) fail_with("opened");
}

void Journal::append(std::string_view text) {
  const std::string line = line_of(text);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    done += static_cast<std::size_t>(written);
  }
  if (done < line.size() || ::fsync(descriptor_) != 0) {
    const int error_number = errno;
    // The part that was written must not precede the next line.
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) fail_with("repaired");
    errno = error_number;
    fail_with("written");
  }
  bytes_ += line.size();
}

void Journal::replace(std::span<const std::string> texts) {
  std::uint64_t bytes = 0;
  AtomicFile next(file_);
  for (const std::string& text : texts) {
    const std::string line = line_of(text);
    next.write(line);
    bytes += line.size();
  }
  next.commit();
  bytes_ = bytes;
  open_file();
}

void Journal::fail_with(const char* action) const {
  fail(ErrorKind::kIo, "{}: cannot be {}: {}", file_.string(), action, std::generic_category().message(errno));
}

}  // namespace annulus
