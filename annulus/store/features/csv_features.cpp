// Feature sets in CSV: one line per example, values and a label; quotes as in RFC 4180.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/features/feature_formats.h"
#include "annulus/store/features/label_column.h"
#include "annulus/store/formats/csv_reader.h"
#include "annulus/store/formats/number_text.h"

namespace annulus {
namespace {

// What each column holds.
struct Columns {
  std::size_t count = 0;
  std::optional<std::size_t> label;
  std::optional<std::size_t> path;
  std::optional<std::size_t> is_train;
  std::optional<std::size_t> group;
  bool has_header = false;

  bool is_feature(std::size_t column) const {
    return column != label && column != path && column != is_train && column != group;
  }
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

Columns columns_of(const std::vector<std::string_view>& first, const std::string& source) {
  Columns columns;
  columns.count = first.size();
  const auto assign = [&](std::optional<std::size_t>& column, std::size_t index) {
    if (column)
      fail(ErrorKind::kFormat, "{}: line 1: columns {} and {} have the same role", source, *column + 1, index + 1);
    column = index;
    columns.has_header = true;
  };
  for (std::size_t j = 0; j < first.size(); ++j) {
    const std::string name = lower(first[j].substr(0, 16));
    float ignored = 0.0F;
    if (name == "label" || name == "labels" || name == "target" || name == "targets" || name == "class") {
      assign(columns.label, j);
    } else if (name == "path" || name == "paths") {
      assign(columns.path, j);
    } else if (name == "is_train") {
      assign(columns.is_train, j);
    } else if (name == "group" || name == "groups") {
      assign(columns.group, j);
    } else if (j + 1 < first.size() && !parse_feature(first[j], ignored)) {
      columns.has_header = true;
    }
  }
  if (!columns.has_header && columns.count > 1) columns.label = columns.count - 1;
  return columns;
}

// The columns of names.
struct NameColumns {
  std::vector<std::string> labels;
  std::vector<std::string> groups;
};

void read_record(const std::vector<std::string_view>& fields, const Columns& columns, const std::string& where,
                 std::vector<float>& numbers, NameColumns& names, FeatureSetParts& parts) {
  if (fields.size() != columns.count) {
    fail(ErrorKind::kFormat, "{}: expected {} columns, found {}", where, columns.count, fields.size());
  }
  for (std::size_t j = 0; j < fields.size(); ++j) {
    if (!columns.is_feature(j)) continue;
    float value = 0.0F;
    if (!parse_feature(fields[j], value)) {
      fail(ErrorKind::kInput, "{}, column {}: expected a finite number, found \"{}\"", where, j + 1,
           fields[j].substr(0, 40));
    }
    numbers.push_back(value);
  }
  if (columns.label) {
    if (fields[*columns.label].empty()) {
      fail(ErrorKind::kInput, "{}, column {}: expected a label, found nothing", where, *columns.label + 1);
    }
    names.labels.emplace_back(fields[*columns.label]);
  }
  if (columns.group) names.groups.emplace_back(fields[*columns.group]);
  if (columns.path) parts.paths.emplace_back(fields[*columns.path]);
  if (columns.is_train) {
    const std::string flag = lower(fields[*columns.is_train]);
    const bool yes = flag == "1" || flag == "true";
    if (!yes && flag != "0" && flag != "false") {
      fail(ErrorKind::kInput, "{}, column {}: expected is_train to be 0 or 1, found \"{}\"", where,
           *columns.is_train + 1, flag.substr(0, 40));
    }
    parts.is_train.push_back(yes ? 1 : 0);
  }
}

}  // namespace

FeatureSetParts csv_features(const FileBytes& file) {
  const std::string_view text = as_text(file.bytes);
  if (text.find('\0') != std::string_view::npos) {
    fail(ErrorKind::kFormat, "{}: expected CSV text, found binary data", file.source);
  }
  FeatureSetParts parts;
  parts.source = file.source;
  CsvReader reader(text, parts.source);
  std::vector<std::string_view> fields;
  if (!reader.next(fields)) fail(ErrorKind::kFormat, "{}: expected CSV text, found an empty file", file.source);
  const Columns columns = columns_of(fields, parts.source);
  const auto numbers = std::make_shared<std::vector<float>>();
  NameColumns names;
  std::size_t rows = 0;
  for (bool more = columns.has_header ? reader.next(fields) : true; more; more = reader.next(fields)) {
    read_record(fields, columns, fmt::format("{}: line {}", parts.source, reader.line()), *numbers, names, parts);
    ++rows;
  }
  if (numbers->empty()) fail(ErrorKind::kInput, "{}: expected lines of numbers, found none", file.source);
  parts.features = {numbers->data(), rows, numbers->size() / rows};
  parts.owner = numbers;
  if (columns.label) set_untyped_labels(names.labels, parts);
  set_groups(names.groups, parts.groups);
  return parts;
}

}  // namespace annulus
