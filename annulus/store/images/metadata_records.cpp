// Reads metadata files line by line.
#include "annulus/store/images/metadata_records.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/csv_reader.h"

namespace annulus {
namespace {

using Use = std::function<void(const MetadataRecord&, const std::string&)>;

constexpr std::array<const char*, 4> kBoxColumns = {"x", "y", "width", "height"};

void read_csv(std::string_view text, const std::string& source, const Use& use) {
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
    MetadataRecord record;
    for (std::size_t i = 0; i < header.size(); ++i) record.emplace(header[i], fields[i]);
    use(record, where);
  }
}

void add_box(const nlohmann::json& list, const std::string& where, MetadataRecord& record) {
  const bool numbers =
      std::all_of(list.begin(), list.end(), [](const nlohmann::json& value) { return value.is_number(); });
  if (list.size() != kBoxColumns.size() || !numbers) {
    fail(ErrorKind::kFormat, "{}: expected bbox to be four numbers: x, y, width, height", where);
  }
  for (std::size_t i = 0; i < list.size(); ++i) record[kBoxColumns[i]] = list[i].dump();
}

void read_jsonl(std::string_view text, const std::string& source, const Use& use) {
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
    MetadataRecord record;
    for (const auto& [key, value] : object.items()) {
      if (value.is_string()) record.emplace(key, value.get<std::string>());
      const bool of_box = std::find(kBoxColumns.begin(), kBoxColumns.end(), key) != kBoxColumns.end();
      if (value.is_number_integer() || value.is_boolean() || (value.is_number() && of_box)) {
        record.emplace(key, value.dump());
      }
      if (value.is_array() && key == "bbox") add_box(value, where, record);
    }
    use(record, where);
  }
}

}  // namespace

void read_metadata_records(const std::filesystem::path& metadata, const Use& use) {
  const MappedFile file(metadata);
  const std::string source = metadata.string();
  if (metadata.extension() == ".jsonl") {
    read_jsonl(as_text(file.bytes()), source, use);
  } else {
    read_csv(as_text(file.bytes()), source, use);
  }
}

std::optional<MediaBox> box_of_record(const MetadataRecord& record, const std::string& where) {
  std::array<const std::string*, 4> texts{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto found = record.find(kBoxColumns[i]);
    if (found == record.end()) return std::nullopt;
    texts[i] = &found->second;
  }
  if (std::all_of(texts.begin(), texts.end(), [](const std::string* text) { return text->empty(); })) {
    return std::nullopt;
  }
  std::array<double, 4> values{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const char* const last = texts[i]->data() + texts[i]->size();
    const auto [end, error] = std::from_chars(texts[i]->data(), last, values[i]);
    if (error != std::errc() || end != last) {
      fail(ErrorKind::kFormat, "{}: expected a number for {} of the box, found \"{}\"", where, kBoxColumns[i],
           *texts[i]);
    }
  }
  const MediaBox box{values[0], values[1], values[2], values[3]};
  if (!is_box(box)) {
    fail(ErrorKind::kFormat, "{}: expected a box with a width and a height above 0, found {},{},{},{}", where, box.x,
         box.y, box.width, box.height);
  }
  return box;
}

bool may_be_relative(const MediaBox& box) {
  // Rounded numbers may pass the edge a little.
  constexpr double kTolerance = 0.01;
  const auto fits = [&](double first, double length) {
    return first >= -kTolerance && length <= 1.0 + kTolerance && first + length <= 1.0 + kTolerance;
  };
  return fits(box.x, box.width) && fits(box.y, box.height);
}

MediaBox percent_box(const MediaBox& relative) {
  constexpr double kHundred = 100.0;
  return {kHundred * relative.x, kHundred * relative.y, kHundred * relative.width, kHundred * relative.height, true};
}

}  // namespace annulus
