// metadata.csv and metadata.jsonl as Hugging Face's image folders have them.
#include <algorithm>
#include <array>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_rows.h"
#include "annulus/store/images/metadata_records.h"

namespace annulus {
namespace {

constexpr std::array<std::string_view, 6> kFileColumns = {"file_name", "filename", "file", "path", "image", "name"};
constexpr std::array<std::string_view, 7> kLabelColumns = {"label",    "class",  "class_name", "label_name",
                                                           "category", "target", "text"};

// The first of `names` that the record has, and its value.
template <class Names>
const std::string* find_any(const MetadataRecord& record, const Names& names) {
  for (const std::string_view name : names) {
    if (const auto found = record.find(name); found != record.end()) return &found->second;
  }
  return nullptr;
}

std::optional<bool> train_flag(const MetadataRecord& record, const std::string& where) {
  if (const auto split = record.find("split"); split != record.end()) return split->second == "train";
  if (const auto flag = record.find("is_train"); flag != record.end()) {
    if (flag->second == "1" || flag->second == "true" || flag->second == "True") return true;
    if (flag->second == "0" || flag->second == "false" || flag->second == "False") return false;
    fail(ErrorKind::kFormat, "{}: expected is_train to be 0 or 1, found \"{}\"", where, flag->second);
  }
  return std::nullopt;
}

ImageRow row_from(const MetadataRecord& record, std::span<const std::filesystem::path> folders,
                  const std::string& where) {
  const std::string* const name = find_any(record, kFileColumns);
  if (name == nullptr || name->empty()) fail(ErrorKind::kFormat, "{}: expected a file_name, found none", where);
  if (!is_utf8(*name)) fail(ErrorKind::kFormat, "{}: expected the file_name to be UTF-8 text", where);
  ImageRow row;
  row.path = find_image(*name, folders, where);
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

// Boxes are fractions of the sides where all boxes of the file can be; paths then name them.
void add_boxes(const std::vector<std::optional<MediaBox>>& boxes, ImageRows& rows) {
  const bool relative =
      std::all_of(boxes.begin(), boxes.end(), [](const auto& box) { return !box || may_be_relative(*box); });
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!boxes[i]) continue;
    if (rows.rows[i].group.empty()) rows.rows[i].group = rows.rows[i].path;
    rows.rows[i].path = to_text({rows.rows[i].path, {}, relative ? percent_box(*boxes[i]) : *boxes[i]});
  }
}

}  // namespace

std::string find_image(const std::string& name, std::span<const std::filesystem::path> folders,
                       const std::string& where) {
  for (const std::filesystem::path& folder : folders) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) return (folder / name).string();
  }
  fail(ErrorKind::kInput, "{}: expected the image {}, found no such file", where, (folders.front() / name).string());
}

std::filesystem::path find_metadata(const std::filesystem::path& folder) {
  for (const char* const name : {"metadata.csv", "metadata.jsonl"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / name, ignored)) return folder / name;
  }
  return {};
}

ImageRows read_metadata(const std::filesystem::path& metadata, std::span<const std::filesystem::path> folders) {
  const std::string source = metadata.string();
  ImageRows rows;
  std::vector<std::optional<MediaBox>> boxes;
  read_metadata_records(metadata, [&](const MetadataRecord& record, const std::string& where) {
    rows.rows.push_back(row_from(record, folders, where));
    boxes.push_back(box_of_record(record, where));
  });
  add_boxes(boxes, rows);
  const auto labelled = static_cast<std::size_t>(std::count_if(
      rows.rows.begin(), rows.rows.end(), [](const ImageRow& row) { return row.class_name.has_value(); }));
  if (labelled == 0 && !rows.rows.empty()) {
    rows.warnings.push_back(
        fmt::format("{} has no column named {}: its images carry no labels", source, fmt::join(kLabelColumns, ", ")));
  }
  return rows;
}

}  // namespace annulus
