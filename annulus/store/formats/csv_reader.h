// Splits CSV text into records of fields; quotes as in RFC 4180.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

// Keeps views of `text` and `source`, which must outlive it. Throws Error{kFormat} with the line for broken quoting.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& source);

  // Reads the next record that is not an empty line; false at the end. Fields stay valid until the next record is read.
  bool next(std::vector<std::string_view>& fields);

  // The line on which the record last read starts, counted from 1.
  std::size_t line() const { return first_line_; }

 private:
  void end_line();
  void skip_empty_lines();
  std::string_view field();
  std::string_view quoted();

  std::string_view text_;
  const std::string& source_;
  std::size_t line_ = 1;
  std::size_t first_line_ = 1;
  std::deque<std::string> unescaped_;
};

}  // namespace annulus
