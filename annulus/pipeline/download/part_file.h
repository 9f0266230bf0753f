// The part of a download that has come so far, beside its future place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace annulus {

// "88.3 MB"
std::string megabytes_text(std::uint64_t bytes);

// FILE.part, and FILE.part.tag with what the server calls this version of the file. Both stay until remove() or
// install(), whatever happens, unless nothing has come. One process at a time may have it. Every failure throws
// Error{kIo} that names the file; a full disk in words of its own.
class PartFile {
 public:
  // Goes on with the part that is there, or makes an empty one.
  explicit PartFile(const std::filesystem::path& target);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  void append(const char* bytes, std::size_t count);
  // Forgets what has come.
  void empty();
  // What the server called the file that this is a part of; empty: nothing to tell it by.
  std::string tag() const;
  void set_tag(const std::string& tag);
  // The part becomes the file: on the disk first, then renamed. Nothing may be appended afterwards.
  void install();
  void remove();

 private:
  [[noreturn]] void fail_with(const char* action, int error_number) const;

  std::filesystem::path target_;
  std::string path_;
  std::string tag_path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace annulus
