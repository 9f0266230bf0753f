// Labels in a file of their own: a .npy array, or text with one label per line.
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/npy.h"

namespace annulus {
namespace {

void read_array(const FileBytes& file, FeatureSetParts& parts) {
  const ReadBytes read = read_from(file);
  const NpyHeader header = read_npy_header(read, file.source);
  if (header.data_bytes != file.bytes.size() - header.data_offset) {
    fail(ErrorKind::kFormat, "{}: expected {} bytes of array data, found {}", file.source, header.data_bytes,
         file.bytes.size() - header.data_offset);
  }
  npy_column_rows(header, file.source);
  if (header.kind == NpyHeader::Kind::kNumbers) {
    set_integer_labels(read_npy_integers(header, read, file.source), parts);
  } else {
    set_text_labels(read_npy_strings(header, read, file.source), parts);
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

void read_labels(const FileBytes& file, FeatureSetParts& parts) {
  const std::string features = std::exchange(parts.source, file.source);
  if (as_text(file.bytes).starts_with("\x93NUMPY")) {
    read_array(file, parts);
  } else {
    set_untyped_labels(lines_of(as_text(file.bytes)), parts);
  }
  parts.source = features;
}

}  // namespace annulus
