// Appends lines with write and fdatasync; a lock keeps a second run out.
#include "annulus/store/cell_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kSumDigits = 16;
constexpr std::size_t kKeyDigits = 64;

std::string sum_of(std::string_view key_and_value) {
  return sha256_hex(std::as_bytes(std::span(key_and_value))).substr(0, kSumDigits);
}

// "key value" of a line, or nothing where it is not what was written.
std::optional<std::string_view> checked(std::string_view line) {
  if (line.size() < kSumDigits + kKeyDigits + 2 || line[kSumDigits] != ' ') return std::nullopt;
  const std::string_view content = line.substr(kSumDigits + 1);
  if (content[kKeyDigits] != ' ' || line.substr(0, kSumDigits) != sum_of(content)) return std::nullopt;
  return content;
}

}  // namespace

CellFile::CellFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail(ErrorKind::kIo, "{}: cannot open: {}", path_.string(), std::strerror(errno));
  try {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      fail(ErrorKind::kInput, "{}: expected a file of results that no other run has open, found it in use",
           path_.string());
    }
    std::string text;
    std::array<char, 1 << 16> buffer{};
    for (ssize_t count = 0; (count = read(descriptor_, buffer.data(), buffer.size())) != 0;) {
      if (count < 0) fail(ErrorKind::kIo, "{}: cannot read: {}", path_.string(), std::strerror(errno));
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    read_lines(text);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

CellFile::~CellFile() { close(descriptor_); }

void CellFile::read_lines(const std::string& text) {
  std::size_t whole = 0;  // bytes of whole lines
  for (std::size_t line = 1; whole < text.size(); ++line) {
    const std::size_t end = text.find('\n', whole);
    if (end == std::string::npos) break;
    const auto content = checked(std::string_view(text).substr(whole, end - whole));
    if (!content) {
      fail(ErrorKind::kFormat, "{}: expected a finished result with its checksum in line {}, found something else",
           path_.string(), line);
    }
    values_[std::string(content->substr(0, kKeyDigits))] = content->substr(kKeyDigits + 1);
    whole = end + 1;
  }
  if (whole < text.size() && ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) {
    fail(ErrorKind::kIo, "{}: cannot drop a line that was cut off: {}", path_.string(), std::strerror(errno));
  }
  if (lseek(descriptor_, 0, SEEK_END) < 0) {
    fail(ErrorKind::kIo, "{}: cannot find its end: {}", path_.string(), std::strerror(errno));
  }
}

std::optional<std::string> CellFile::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void CellFile::keep(const std::string& key, const std::string& value) {
  if (key.size() != kKeyDigits || value.find('\n') != std::string::npos) {
    fail(ErrorKind::kInternal, "expected a key of {} digits and a value of one line", kKeyDigits);
  }
  const std::string content = key + " " + value;
  const std::string line = sum_of(content) + " " + content + "\n";
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(ErrorKind::kIo, "{}: cannot write: {}", path_.string(), std::strerror(errno));
    written += static_cast<std::size_t>(count);
  }
  if (fdatasync(descriptor_) != 0) fail(ErrorKind::kIo, "{}: cannot write: {}", path_.string(), std::strerror(errno));
  values_[key] = value;
}

CellStore CellFile::store() {
  return {[this](const std::string& key) { return find(key); },
          [this](const std::string& key, const std::string& value) { keep(key, value); }};
}

}  // namespace annulus
