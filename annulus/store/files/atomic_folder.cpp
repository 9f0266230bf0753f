// Temporary folder, fsync, rename or exchange: the order that survives a crash at any point.
#include "annulus/store/files/atomic_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/files/durable_folder.h"

namespace annulus {
namespace {

constexpr std::string_view kTemporaryEnd = ".tmp";

// Without a slash at the end, and of a link the folder that it leads to.
std::filesystem::path resolved_folder(const std::filesystem::path& target) {
  std::error_code ignored;
  auto path = target.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path == "." || path == ".." || std::filesystem::is_symlink(path, ignored)) {
    const auto real = std::filesystem::weakly_canonical(path, ignored);
    if (!ignored) path = real;
  }
  return path;
}

// The process in ".NAME.PROCESS.COUNT.tmp"; 0 for other names.
pid_t process_of_folder(std::string_view name, std::string_view start) {
  if (!name.starts_with(start) || !name.ends_with(kTemporaryEnd) || name.size() < start.size() + kTemporaryEnd.size())
    return 0;
  name = name.substr(start.size(), name.size() - start.size() - kTemporaryEnd.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  return error == std::errc() && *end == '.' && process > 0 ? process : 0;
}

// Whether nobody writes to it any more: its process is gone, and no other one, which may be elsewhere, holds its lock.
bool is_orphan_folder(const std::filesystem::path& folder, pid_t process) {
  if (::kill(process, 0) == 0 || errno != ESRCH) return false;
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool orphan = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return orphan;
}

void remove_orphan_folders(const std::filesystem::path& parent, std::string_view start) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(parent, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const pid_t process = process_of_folder(entry->path().filename().string(), start);
    std::error_code unremoved;  // somebody else's, or gone by now
    if (process != 0 && is_orphan_folder(entry->path(), process)) std::filesystem::remove_all(entry->path(), unremoved);
  }
}

}  // namespace

AtomicFolder::AtomicFolder(const std::filesystem::path& target) : target_(resolved_folder(target)) {
  std::error_code ignored;
  const auto status = std::filesystem::status(target_, ignored);
  if (!target_.has_filename() || (std::filesystem::exists(status) && !std::filesystem::is_directory(status))) {
    fail(ErrorKind::kIo, "{}: expected the name of a folder to write, found a file or a device", target.string());
  }
  const auto parent = parent_folder(target_);
  const std::string start = fmt::format(".{}.", target_.filename().string());
  remove_orphan_folders(parent, start);
  static std::atomic<unsigned> counter{0};
  int made = -1;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = parent / fmt::format("{}{}.{}{}", start, ::getpid(), counter++, kTemporaryEnd);
    made = ::mkdir(temporary_.c_str(), 0777);
    if (made == 0 || errno != EEXIST) break;
  }
  if (made != 0) fail_with("created", errno);
  descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);  // after commit: what was there before
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFolder::commit() {
  if (descriptor_ >= 0) ::fsync(descriptor_);
  // An empty folder is replaced like a missing one; another one changes places with the new one.
  int error_number = ::rename(temporary_.c_str(), target_.c_str()) == 0 ? 0 : errno;
  if (error_number == ENOTEMPTY || error_number == EEXIST) {
    error_number =
        ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
  }
  if (error_number == EINVAL || error_number == ENOSYS) {  // a file system that cannot exchange two names
    const std::string old = temporary_.string() + ".old";
    if (::rename(target_.c_str(), old.c_str()) != 0) fail_with("replaced", errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      error_number = errno;
      ::rename(old.c_str(), target_.c_str());
      fail_with("replaced", error_number);
    }
    temporary_ = old;
    error_number = 0;
  }
  if (error_number != 0) fail_with("renamed into place", error_number);
  sync_folder(parent_folder(target_));
}

void AtomicFolder::fail_with(const char* action, int error_number) const {
  fail(ErrorKind::kIo, "{}: cannot be {}: {}", target_.string(), action, std::generic_category().message(error_number));
}

}  // namespace annulus
