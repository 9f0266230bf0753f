// Writes a folder of files so that a reader sees either what was there before or the whole new folder.
#pragma once

#include <filesystem>

namespace annulus {

// Files are written to path(), a temporary folder beside the target; commit() makes them durable and gives the folder
// its name, in place of an empty folder or of one that the caller knows may go. Destroyed without commit, it leaves
// nothing behind; what killed processes left of the same target is removed by the next. Every failure throws Error{kIo}
// that names the target.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::filesystem::path& target);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  // fsync of the folder, rename, fsync of its parent. The files must be durable: AtomicFile's are.
  void commit();

 private:
  [[noreturn]] void fail_with(const char* action, int error_number) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;  // of the temporary folder: its lock says that somebody writes
};

}  // namespace annulus
