// metadata.csv and metadata.jsonl as Hugging Face's image folders have them.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/csv_reader.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_rows.h"

namespace annulus {
namespace {

using Record = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 6> kFileColumns = {"file_name", "filename", "file", "path", "image", "name"};
constexpr std::array<std::string_view, 7> kLabelColumns = {"label",    "class",  "class_name", "label_name",
                                                           "category", "target", "text"};

// The first of `names` that the record has, and its value.
template <class Names>
const std::string* find_any(const Record& record, const Names& names) {
  for (const std::string_view name : names) {
    if (const auto found = record.find(name); found != record.end()) return &found->second;
  }
  return nullptr;
}

std::optional<bool> train_flag(const Record& record, const std::string& where) {
  if (const auto split = record.find("split"); split != record.end()) return split->second == "train";
  if (const auto flag = record.find("is_train"); flag != record.end()) {
    if (flag->second == "1" || flag->second == "true" || flag->second == "True") return true;
    if (flag->second == "0" || flag->second == "false" || flag->second == "False") return false;
    fail(ErrorKind::kFormat, "{}: expected is_train to be 0 or 1, found \"{}\"", where, flag->second);
  }
  return std::nullopt;
}

ImageRow row_from(const Record& record, const std::filesystem::path& folder, const std::string& where) {
  const std::string* const name = find_any(record, kFileColumns);
  if (name == nullptr || name->empty()) fail(ErrorKind::kFormat, "{}: expected a file_name, found none", where);
  if (!is_utf8(*name)) fail(ErrorKind::kFormat, "{}: expected the file_name to be UTF-8 text", where);
  ImageRow row;
  const std::filesystem::path path = folder / *name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    fail(ErrorKind::kInput, "{}: expected the image {}, found no such file", where, path.string());
  }
  row.path = path.string();
  if (const std::string* const label = find_any(record, kLabelColumns)) {
    if (label->empty() || !is_utf8(*label)) {
      fail(ErrorKind::kFormat, "{}: expected a label for {}, found {}", where, *name,
           label->empty() ? "an empty one" : "one that is not UTF-8 text");
    }
    row.class_name = *label;
  }
  row.is_train = train_flag(record, where);
  if (const auto group = record.find("group"); group != record.end()) row.group = group->second;
  return row;
}

void read_csv(std::string_view text, const std::string& source, const std::filesystem::path& folder, ImageRows& out) {
  CsvReader reader(text, source);
  std::vector<std::string_view> fields;
  if (!reader.next(fields)) return;
  const std::vector<std::string> header(fields.begin(), fields.end());
  while (reader.next(fields)) {
    const std::string where = fmt::format("{}: line {}", source, reader.line());
    if (fields.size() != header.size()) {
      fail(ErrorKind::kFormat, "{}: expected {} fields as in the first line, found {}", where, header.size(),
           fields.size());
    }
    Record record;
    for (std::size_t i = 0; i < header.size(); ++i) record.emplace(header[i], fields[i]);
    out.rows.push_back(row_from(record, folder, where));
  }
}

void read_jsonl(std::string_view text, const std::string& source, const std::filesystem::path& folder, ImageRows& out) {
  std::size_t line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (content.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}: line {}", source, line);
    const auto object = nlohmann::json::parse(content, nullptr, false);
    if (!object.is_object()) fail(ErrorKind::kFormat, "{}: expected a JSON object", where);
    Record record;
    for (const auto& [key, value] : object.items()) {
      if (value.is_string()) record.emplace(key, value.get<std::string>());
      if (value.is_number_integer() || value.is_boolean()) record.emplace(key, value.dump());
    }
    out.rows.push_back(row_from(record, folder, where));
  }
}

}  // namespace

std::filesystem::path find_metadata(const std::filesystem::path& folder) {
  for (const char* const name : {"metadata.csv", "metadata.jsonl"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) return folder / name;
  }
  return {};
}

ImageRows read_metadata(const std::filesystem::path& metadata, const std::filesystem::path& folder) {
  const MappedFile file(metadata);
  const std::string source = metadata.string();
  ImageRows rows;
  if (metadata.extension() == ".jsonl") {
    read_jsonl(as_text(file.bytes()), source, folder, rows);
  } else {
    read_csv(as_text(file.bytes()), source, folder, rows);
  }
  const auto labelled = static_cast<std::size_t>(std::count_if(
      rows.rows.begin(), rows.rows.end(), [](const ImageRow& row) { return row.class_name.has_value(); }));
  if (labelled == 0 && !rows.rows.empty()) {
    rows.warnings.push_back(
        fmt::format("{} has no column named {}: its images carry no labels", source, fmt::join(kLabelColumns, ", ")));
  }
  return rows;
}

}  // namespace annulus
