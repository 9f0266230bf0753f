// Reads names, writes links and pages.
#include "annulus/pipeline/group_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/pipeline/page_pictures.h"
#include "annulus/report/html/pool_page.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/formats/csv_reader.h"

namespace annulus {
namespace {

namespace fs = std::filesystem;

bool names_a_folder(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// Whether rows of a group are written: all are, unless somebody named some.
bool is_written(const GroupSheet& sheet, std::size_t group) {
  const bool any = std::find(sheet.named.begin(), sheet.named.end(), 1) != sheet.named.end();
  return !any || sheet.named[group] != 0;
}

PoolPageOptions with_pictures(bool images, const ProgressCallback& progress) {
  PoolPageOptions options;
  if (images) options.thumbnail = page_pictures(progress);
  return options;
}

// A name in the folder that is not taken yet.
fs::path free_name(const fs::path& folder, const fs::path& image, std::set<std::string>& taken) {
  fs::path name = image.filename();
  for (std::size_t number = 2; !taken.insert((folder / name).string()).second; ++number) {
    name = fmt::format("{}-{}{}", image.stem().string(), number, image.extension().string());
  }
  return folder / name;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, "{}: cannot make the folder: {}", folder.string(), error.message());
}

}  // namespace

GroupNames read_group_names(const fs::path& file) {
  const MappedFile mapped(file);
  const std::string source = file.string();
  CsvReader reader(as_text(mapped.bytes()), source);
  std::vector<std::string_view> fields;
  GroupNames names;
  while (reader.next(fields)) {
    if (fields.size() != 2) {
      fail(ErrorKind::kFormat, "{}: line {}: expected a group and its name, found {} fields", source, reader.line(),
           fields.size());
    }
    const std::string name(fields[1]);
    if (!names_a_folder(name)) {
      fail(ErrorKind::kFormat, "{}: line {}: expected a name that a folder can have, found \"{}\"", source,
           reader.line(), name);
    }
    names[std::string(fields[0])] = name;
  }
  return names;
}

void name_groups(const GroupNames& names, GroupSheet& sheet) {
  const std::size_t count = sheet.found.groups.size();
  sheet.names.resize(count);
  sheet.named.assign(count, 0);
  for (std::size_t g = 0; g < count; ++g) sheet.names[g] = group_name(g, count);
  for (const auto& [group, name] : names) {
    const auto place = std::find(sheet.names.begin(), sheet.names.end(), group);
    if (place == sheet.names.end()) {
      fail(ErrorKind::kInput, "expected a group from {} to {} to name, found \"{}\"", group_name(0, count),
           group_name(count - 1, count), group);
    }
    sheet.named[static_cast<std::size_t>(place - sheet.names.begin())] = 1;
  }
  for (std::size_t g = 0; g < count; ++g) {
    if (sheet.named[g] != 0) sheet.names[g] = names.at(sheet.names[g]);
  }
}

FeatureSet labelled_by_groups(const FeatureSet& set, const GroupSheet& sheet) {
  const std::vector<std::uint32_t> group = group_of_rows(sheet.found);
  std::vector<std::uint32_t> rows;
  std::set<std::string> names;
  for (std::uint32_t row = 0; row < group.size(); ++row) {
    if (group[row] == kNoGroup || !is_written(sheet, group[row])) continue;
    rows.push_back(row);
    names.insert(sheet.names[group[row]]);
  }
  Matrix<float> features(rows.size(), set.dimension());
  set.copy_rows(rows, features.view());
  FeatureSetParts parts = parts_of(std::move(features));
  parts.class_names.assign(names.begin(), names.end());
  for (const std::uint32_t row : rows) {
    const auto place = names.find(sheet.names[group[row]]);
    parts.labels.push_back(static_cast<std::int32_t>(std::distance(names.begin(), place)));
  }
  parts.paths = paths_of(set, rows);
  parts.provenance = set.provenance();
  parts.source = set.source();
  return FeatureSet(std::move(parts));
}

void write_group_links(const GroupSheet& sheet, const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    fail(ErrorKind::kIo, "{}: expected a folder that is new or empty for the links, found one that is not",
         folder.string());
  }
  std::set<std::string> taken;
  for (std::size_t g = 0; g < sheet.found.groups.size(); ++g) {
    if (!is_written(sheet, g)) continue;
    const fs::path place = folder / sheet.names[g];
    make_folder(place);
    for (const std::uint32_t row : sheet.found.groups[g].rows) {
      const fs::path link = free_name(place, sheet.paths[row], taken);
      fs::create_symlink(fs::absolute(sheet.paths[row]), link, error);
      if (error) fail(ErrorKind::kIo, "{}: cannot make the link: {}", link.string(), error.message());
    }
  }
}

void write_group_csv(const GroupSheet& sheet, const fs::path& file) {
  std::vector<std::string> names;
  const fs::path folder = fs::absolute(file).parent_path();
  for (const std::string& path : sheet.paths) {
    names.push_back(sheet.images ? fs::absolute(path).lexically_relative(folder).string() : path);
  }
  GroupSheet written = sheet;
  std::vector<PoolGroup> groups;
  written.names.clear();
  for (std::size_t g = 0; g < sheet.found.groups.size(); ++g) {
    if (!is_written(sheet, g)) continue;
    groups.push_back(sheet.found.groups[g]);
    written.names.push_back(sheet.names[g]);
  }
  written.found.groups = std::move(groups);
  write_file(file, discover_csv(written, names));
}

void write_label_next_page(const LabelSheet& sheet, const fs::path& file, const ProgressCallback& progress) {
  write_file(file, label_next_page(sheet, with_pictures(sheet.images, progress)));
}

void write_discover_page(const GroupSheet& sheet, const fs::path& file, const ProgressCallback& progress) {
  write_file(file, discover_page(sheet, with_pictures(sheet.images, progress)));
}

}  // namespace annulus
