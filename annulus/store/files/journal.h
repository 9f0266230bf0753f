// An append-only file: one line per change, each durable before the call returns, each with its checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace annulus {

// A line is the first 16 digits of the SHA-256 of a text, a space and the text. A process killed while writing leaves a
// torn last line, which is dropped when the file is opened again. Lines for which append() returned are never lost.
class Journal {
 public:
  // Opens or creates the file and passes every whole line to `replay`, in order. Throws Error{kFormat} if a line that
  // is not the last is damaged, Error{kIo} if the file cannot be used.
  Journal(const std::filesystem::path& file, const std::function<void(std::string_view)>& replay);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // `text` has no line break. When this throws Error{kIo} (a full disk), the file is as it was before.
  void append(std::string_view text);
  // Replaces the whole file by these lines, atomically.
  void replace(std::span<const std::string> texts);

  std::uint64_t bytes() const { return bytes_; }

 private:
  void open_file();
  [[noreturn]] void fail_with(const char* action) const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace annulus
