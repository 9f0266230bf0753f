// Finds the list or the folder of the novel classes.
#include "annulus/store/images/class_split_layout.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/csv_reader.h"
#include "annulus/store/formats/json_text.h"
#include "annulus/store/images/image_rows.h"

namespace annulus {
namespace {

constexpr std::array<const char*, 4> kListFolders = {"", "splits", "split", "splits/bertinetto"};
constexpr std::array<const char*, 3> kNovelFolders = {"test", "meta-test", "novel"};

// The file of that name in one of the folders of lists; empty: none.
std::filesystem::path find_split_list(const std::filesystem::path& folder, const char* name) {
  for (const char* const inner : kListFolders) {
    std::error_code ignored;
    std::filesystem::path path = folder / inner / name;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}

std::filesystem::path find_novel_folder(const std::filesystem::path& folder) {
  for (const char* const name : kNovelFolders) {
    std::error_code ignored;
    if (std::filesystem::is_directory(folder / name, ignored)) return folder / name;
  }
  return {};
}

// The first of `candidates` that exists; empty: none.
template <class Paths>
std::filesystem::path first_existing(const Paths& candidates) {
  for (const std::filesystem::path& path : candidates) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return {};
}

ImageRows read_split_table(const std::filesystem::path& table, const std::filesystem::path& folder) {
  const MappedFile file(table);
  const std::string source = table.string();
  if (!is_utf8(as_text(file.bytes()))) fail(ErrorKind::kFormat, "{}: expected a table as UTF-8 text", source);
  CsvReader reader(as_text(file.bytes()), source);
  std::vector<std::string_view> fields;
  if (!reader.next(fields) || fields.size() != 2 || fields[0] != "filename" || fields[1] != "label") {
    fail(ErrorKind::kFormat, "{}: expected the columns filename,label, found \"{}\"", source, fmt::join(fields, ","));
  }
  ImageRows rows;
  std::set<std::string> seen;
  while (reader.next(fields)) {
    const std::string where = fmt::format("{}: line {}", source, reader.line());
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty()) {
      fail(ErrorKind::kFormat, "{}: expected a file name and a class, found \"{}\"", where, fmt::join(fields, ","));
    }
    const std::string name(fields[0]);
    const std::string label(fields[1]);
    const std::filesystem::path path =
        first_existing(std::array{folder / "images" / name, folder / "images" / label / name,
                                  folder / "data" / label / name, folder / label / name, folder / name});
    if (path.empty()) {
      fail(ErrorKind::kInput, "{}: expected the image {} in images, images/{}, data/{} or {} of {}, found no such file",
           where, name, label, label, label, folder.string());
    }
    if (!seen.insert(path.string()).second) {
      fail(ErrorKind::kFormat, "{}: expected every image once, found {} again", where, name);
    }
    rows.rows.push_back({path.string(), label, std::nullopt});
  }
  return rows;
}

ImageRows read_class_names(const std::filesystem::path& list, const std::filesystem::path& folder) {
  const MappedFile file(list);
  std::string_view text = as_text(file.bytes());
  if (!is_utf8(text)) fail(ErrorKind::kFormat, "{}: expected names of classes as UTF-8 text", list.string());
  ImageRows rows;
  std::set<std::string> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string name(line);
    const std::string where = fmt::format("{}: line {}", list.string(), number);
    if (name.find('/') != std::string::npos || name.starts_with('.')) {
      fail(ErrorKind::kFormat, "{}: expected the name of a class, found \"{}\"", where, name);
    }
    if (!seen.insert(name).second) {
      fail(ErrorKind::kFormat, "{}: expected every class once, found {} again", where, name);
    }
    const std::filesystem::path images =
        first_existing(std::array{folder / "data" / name, folder / "images" / name, folder / name});
    if (images.empty()) {
      fail(ErrorKind::kInput,
           "{}: expected a folder of the class {} in data, images or the folder {} itself, found none", where, name,
           folder.string());
    }
    for (std::string& path : list_images(images).paths) rows.rows.push_back({std::move(path), name, std::nullopt});
  }
  return rows;
}

}  // namespace

bool is_class_split(const std::filesystem::path& folder) {
  return !find_split_list(folder, "test.csv").empty() || !find_split_list(folder, "test.txt").empty() ||
         !find_novel_folder(folder).empty();
}

ImageList read_novel_classes(const std::filesystem::path& folder) {
  if (const auto table = find_split_list(folder, "test.csv"); !table.empty()) {
    return image_list_of(read_split_table(table, folder), table, true);
  }
  if (const auto list = find_split_list(folder, "test.txt"); !list.empty()) {
    return image_list_of(read_class_names(list, folder), list, true);
  }
  const std::filesystem::path images = find_novel_folder(folder);
  if (images.empty()) {
    fail(ErrorKind::kInput, "{}: expected test.csv, test.txt or a folder test with the novel classes, found none",
         folder.string());
  }
  ImageListOptions options;
  options.for_training = true;  // that is, labelled
  return list_images(images, options);
}

}  // namespace annulus
