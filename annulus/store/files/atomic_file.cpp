// Temporary file, fsync, rename: the order that survives a crash at any point.
#include "annulus/store/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/files/durable_folder.h"

namespace annulus {
namespace {

// A link is followed, so that its target is replaced and not the link.
std::filesystem::path resolved(const std::filesystem::path& target) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(target, ignored)) return target;
  const auto real = std::filesystem::weakly_canonical(target, ignored);
  return ignored ? target : real;
}

// The owner first: changing it may clear bits of the mode. Who may not give files away keeps this one, and gives a
// group that is not the old one no rights.
bool take_rights_of(const std::filesystem::path& target, int file) {
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0) return true;
  mode_t mode = old.st_mode & 07777U;
  if (::fchown(file, old.st_uid, old.st_gid) != 0 && ::fchown(file, static_cast<uid_t>(-1), old.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG);
  }
  struct stat now {};
  if (::fstat(file, &now) == 0 && now.st_uid != old.st_uid) mode &= ~static_cast<mode_t>(S_ISUID);
  return ::fchmod(file, mode) == 0;
}

// The process that a temporary file belongs to, by its name: ".NAME.PROCESS.COUNT.tmp".
std::optional<pid_t> process_of(const std::string& name) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.starts_with('.') || !name.ends_with(kEnd)) return std::nullopt;
  const std::string_view stem = std::string_view(name).substr(0, name.size() - kEnd.size());
  const std::size_t count = stem.rfind('.');
  const std::size_t process = count == 0 ? std::string_view::npos : stem.rfind('.', count - 1);
  if (process == std::string_view::npos || process == 0) return std::nullopt;
  const auto number = [](std::string_view digits) {
    pid_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value >= 0 ? std::optional(value)
                                                                                      : std::nullopt;
  };
  return number(stem.substr(count + 1)) ? number(stem.substr(process + 1, count - process - 1)) : std::nullopt;
}

// Whether nobody writes to it any more: its process is gone, and no other one, which may be elsewhere, holds its lock.
bool is_orphan(const std::filesystem::path& file, pid_t process) {
  if (process == 0 || ::kill(process, 0) == 0 || errno != ESRCH) return false;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return false;
  struct stat status {};
  const bool orphan =
      ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return orphan;
}

// Once for each folder and process: a folder may be large.
void remove_orphans(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::filesystem::path> seen;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(folder).second) return;
  }
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const auto process = process_of(entry->path().filename().string());
    if (process && is_orphan(entry->path(), *process)) ::unlink(entry->path().c_str());
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& target) : target_(resolved(target)) {
  std::error_code ignored;
  const auto status = std::filesystem::status(target_, ignored);
  if (target_.filename().empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))) {
    fail(ErrorKind::kIo, "{}: expected the name of a file to write, found a folder or a device", target.string());
  }
  remove_orphans(parent_folder(target_));
  // What replaces a file is nobody else's to read before it has that file's rights.
  const mode_t mode = std::filesystem::exists(status) ? 0600 : 0666;
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = target_;
    temporary_.replace_filename(fmt::format(".{}.{}.{}.tmp", target_.filename().string(), ::getpid(), counter++));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0 || errno != EEXIST) break;
  }
  if (descriptor_ < 0) fail_with("created", errno);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // says that somebody writes; where it cannot be had, the process says so
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with("written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::overwrite(std::size_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with("written", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_with("written", errno);
  // Opened again, because the file may have been replaced through temporary_path().
  const int written = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (written < 0) fail_with("written", errno);
  const bool has_rights = take_rights_of(target_, written);
  const bool durable = has_rights && ::fsync(written) == 0;
  const int error_number = errno;
  ::close(written);
  if (!has_rights) fail_with("given the rights of the file that it replaces", error_number);
  if (!durable) fail_with("made durable", error_number);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with("renamed into place", errno);
  committed_ = true;
  sync_folder(parent_folder(target_));
}

void AtomicFile::fail_with(const char* action, int error_number) const {
  fail(ErrorKind::kIo, "{}: cannot be {}: {}", target_.string(), action, std::generic_category().message(error_number));
}

void check_writable(const std::filesystem::path& target) { const AtomicFile unused(target); }

void write_file(const std::filesystem::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text);
  file.commit();
}

}  // namespace annulus
