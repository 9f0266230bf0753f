// Appends lines with pwrite and fdatasync, under a lock; claims are locks too.
#include "annulus/store/results/run_cache_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/store/files/byte_lock.h"
#include "annulus/store/results/run_json.h"

namespace annulus {
namespace {

constexpr std::size_t kSumDigits = 16;
constexpr std::size_t kKeyDigits = 64;
constexpr std::uint64_t kWriting = 0;  // the number that is locked for writing; no key has it

std::string sum_of(std::string_view key_and_value) {
  return sha256_hex(std::as_bytes(std::span(key_and_value))).substr(0, kSumDigits);
}

// "key value" of a line, or nothing if the checksum does not match.
std::optional<std::string_view> checked(std::string_view line) {
  if (line.size() < kSumDigits + kKeyDigits + 2 || line[kSumDigits] != ' ') return std::nullopt;
  const std::string_view content = line.substr(kSumDigits + 1);
  if (content[kKeyDigits] != ' ' || line.substr(0, kSumDigits) != sum_of(content)) return std::nullopt;
  return content;
}

template <class Run, class Read, class Write>
RunCache<Run> typed_cache(RunCacheFile& file, Read read, Write write) {
  return {[&file, read](const std::string& key) -> std::optional<Run> {
            const auto text = file.find(key);
            if (!text) return std::nullopt;
            return read(*text);
          },
          [&file, write](const std::string& key, const Run& run) { file.keep(key, write(run)); },
          [&file](const std::string& key) { return file.claim(key); }, wait_for_others};
}

}  // namespace

RunCacheFile::RunCacheFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail(ErrorKind::kIo, "{}: cannot open: {}", path_.string(), std::strerror(errno));
  try {
    const auto alone = lock_number(descriptor_, kWriting, path_);
    read_new_lines();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

RunCacheFile::~RunCacheFile() { close(descriptor_); }

// The caller holds the write lock: a line that is replaced while it is read in pieces would look damaged. An incomplete
// last line is ignored: its writer was killed.
void RunCacheFile::read_new_lines() {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (ssize_t count = 1; count != 0;) {
    count = pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(whole_ + text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(ErrorKind::kIo, "{}: cannot read: {}", path_.string(), std::strerror(errno));
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto content = checked(std::string_view(text).substr(begin, end - begin));
    if (!content) {
      fail(ErrorKind::kFormat, "{}: expected a finished result with its checksum in line {}, found something else",
           path_.string(), lines_ + 1);
    }
    values_[std::string(content->substr(0, kKeyDigits))] = content->substr(kKeyDigits + 1);
    whole_ += end + 1 - begin;
    ++lines_;
  }
}

std::optional<std::string> RunCacheFile::find(const std::string& key) {
  auto found = values_.find(key);
  if (found == values_.end()) {
    const auto alone = lock_number(descriptor_, kWriting, path_);
    read_new_lines();
    found = values_.find(key);
  }
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::shared_ptr<const void> RunCacheFile::claim(const std::string& key) const {
  return try_lock_number(descriptor_, number_of_hex(key), path_);
}

void RunCacheFile::keep(const std::string& key, const std::string& value) {
  if (key.size() != kKeyDigits || value.find('\n') != std::string::npos) {
    fail(ErrorKind::kInternal, "expected a key of {} digits and a value of one line", kKeyDigits);
  }
  const std::string content = key + " " + value;
  const std::string line = sum_of(content) + " " + content + "\n";
  const auto alone = lock_number(descriptor_, kWriting, path_);
  read_new_lines();
  // Nobody else writes now: an incomplete line after the last whole one was left by a kill.
  if (ftruncate(descriptor_, static_cast<off_t>(whole_)) != 0) {
    fail(ErrorKind::kIo, "{}: cannot drop an incomplete line: {}", path_.string(), std::strerror(errno));
  }
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count =
        pwrite(descriptor_, line.data() + written, line.size() - written, static_cast<off_t>(whole_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(ErrorKind::kIo, "{}: cannot write: {}", path_.string(), std::strerror(errno));
    written += static_cast<std::size_t>(count);
  }
  if (fdatasync(descriptor_) != 0) fail(ErrorKind::kIo, "{}: cannot write: {}", path_.string(), std::strerror(errno));
  whole_ += line.size();
  ++lines_;
  values_[key] = value;
}

RunCache<std::string> RunCacheFile::texts() {
  const auto same = [](const std::string& text) { return text; };
  return typed_cache<std::string>(*this, same, same);
}

RunCache<ManyWayRun> RunCacheFile::runs() { return typed_cache<ManyWayRun>(*this, run_from_json, run_to_json); }

RunCache<SeedScore> RunCacheFile::seeds() { return typed_cache<SeedScore>(*this, seed_from_json, seed_to_json); }

}  // namespace annulus
