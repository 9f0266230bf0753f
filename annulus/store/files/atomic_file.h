// Writes a file so that a reader sees either the old content or the whole new one, whatever happens in between.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace annulus {

// Writes go to a temporary file in the target's folder; commit() makes it durable and renames it. Destroyed without
// commit, it leaves nothing behind; what killed processes left in a folder is removed when the first file is written
// there. Every failure throws Error{kIo} that names the target.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Writes over bytes that were written before.
  void overwrite(std::size_t offset, std::string_view text);
  // fsync of the file, rename, fsync of its folder. Nothing may be written afterwards.
  void commit();

  // For a library that writes to a path itself: it may write or replace this file before commit().
  const std::filesystem::path& temporary_path() const { return temporary_; }

 private:
  [[noreturn]] void fail_with(const char* action, int error_number) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

// Throws the error that a later write would, where that can be known now: no such folder, no permission, a folder of
// that name.
void check_writable(const std::filesystem::path& target);

// The whole of `text` in one call.
void write_file(const std::filesystem::path& target, std::string_view text);

}  // namespace annulus
