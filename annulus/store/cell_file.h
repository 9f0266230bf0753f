// Finished cells on disk: appended one by one, each with its checksum, so that a killed run goes on where it stopped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "annulus/eval/cells.h"

namespace annulus {

// A text file of lines "checksum key value"; the checksum covers key and value. A last line that was cut off by a kill
// is dropped when the file is opened; damage anywhere else is an error. One process has it open at a time. Not safe for
// concurrent calls.
class CellFile {
 public:
  // Opens the file, or makes an empty one. Throws Error{kIo}, Error{kFormat} naming the line that is damaged, and
  // Error{kInput} where another process has it open.
  explicit CellFile(std::filesystem::path path);
  ~CellFile();
  CellFile(const CellFile&) = delete;
  CellFile& operator=(const CellFile&) = delete;

  std::optional<std::string> find(const std::string& key) const;
  // On disk when the call returns. The value is one line of text.
  void keep(const std::string& key, const std::string& value);
  std::size_t size() const { return values_.size(); }
  // Functions that call find and keep; they live no longer than this object.
  CellStore store();

 private:
  void read_lines(const std::string& text);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::map<std::string, std::string> values_;
};

}  // namespace annulus
