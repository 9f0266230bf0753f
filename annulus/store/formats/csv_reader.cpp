// The record and field scanner of CSV files.
#include "annulus/store/formats/csv_reader.h"

#include <algorithm>

#include "annulus/base/error.h"

namespace annulus {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

CsvReader::CsvReader(std::string_view text, const std::string& source) : text_(text), source_(source) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
  skip_empty_lines();
  if (text_.empty()) return false;
  fields.clear();
  unescaped_.clear();
  first_line_ = line_;
  while (true) {
    fields.push_back(field());
    if (!text_.empty() && text_.front() == ',') {
      text_.remove_prefix(1);
      continue;
    }
    end_line();
    return true;
  }
}

void CsvReader::end_line() {
  if (text_.starts_with('\r')) text_.remove_prefix(1);
  if (text_.starts_with('\n')) text_.remove_prefix(1);
  ++line_;
}

void CsvReader::skip_empty_lines() {
  while (text_.starts_with('\n') || text_.starts_with("\r\n")) end_line();
}

std::string_view CsvReader::field() {
  const std::size_t start = std::min(text_.find_first_not_of(" \t"), text_.size());
  if (text_.substr(start).starts_with('"')) {
    text_.remove_prefix(start + 1);
    return quoted();
  }
  const std::size_t end = std::min(text_.find_first_of(",\r\n"), text_.size());
  const std::string_view value = trimmed(text_.substr(0, end));
  text_.remove_prefix(end);
  if (text_.starts_with('\r') && !text_.starts_with("\r\n") && text_.size() > 1) {
    fail(ErrorKind::kFormat, "{}: line {}: expected the line to end in a line feed, found a lone carriage return",
         source_, line_);
  }
  return value;
}

std::string_view CsvReader::quoted() {
  std::string& value = unescaped_.emplace_back();
  while (true) {
    const std::size_t end = text_.find('"');
    if (end == std::string_view::npos) {
      fail(ErrorKind::kFormat, "{}: line {}: expected a closing quote, found the end of the file", source_,
           first_line_);
    }
    value += text_.substr(0, end);
    line_ +=
        static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    text_.remove_prefix(end + 1);
    if (!text_.starts_with('"')) break;
    value += '"';
    text_.remove_prefix(1);
  }
  const std::size_t next = std::min(text_.find_first_not_of(" \t"), text_.size());
  text_.remove_prefix(next);
  if (!text_.empty() && std::string_view(",\r\n").find(text_.front()) == std::string_view::npos) {
    fail(ErrorKind::kFormat, "{}: line {}: expected a comma after the closing quote, found \"{}\"", source_, line_,
         text_.substr(0, 1));
  }
  return value;
}

}  // namespace annulus
