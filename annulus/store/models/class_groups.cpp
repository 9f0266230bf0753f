// Reads the file of groups and checks its names.
#include "annulus/store/models/class_groups.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/files/whole_file.h"
#include "annulus/store/formats/csv_reader.h"

namespace annulus {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

bool is_header(const std::vector<std::string_view>& fields) {
  return (fields[0] == "class" || fields[0] == "name") && (fields[1] == "parent" || fields[1] == "group");
}

ClassParents read_parents(const std::filesystem::path& path) {
  const std::string source = path.string();
  const WholeFile file = read_whole_file(path, kLargestFile);
  CsvReader reader({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, source);
  ClassParents parents;
  std::vector<std::string_view> fields;
  bool first = true;
  while (reader.next(fields)) {
    if (fields.size() != 2 || fields[0].empty() || fields[1].empty()) {
      fail(ErrorKind::kFormat, "{}:{}: expected a name and its group, separated by a comma, found {} fields", source,
           reader.line(), fields.size());
    }
    if (first && is_header(fields)) {
      first = false;
      continue;
    }
    first = false;
    const auto [entry, is_new] = parents.emplace(fields[0], fields[1]);
    if (!is_new && entry->second != fields[1]) {
      fail(ErrorKind::kFormat, "{}:{}: expected one group for \"{}\", found \"{}\" and \"{}\"", source, reader.line(),
           fields[0], entry->second, fields[1]);
    }
  }
  return parents;
}

// A name that is spelt otherwise than the class would be passed over, and the class left without its group.
void check_names(std::span<const std::string> class_names, const ClassParents& parents, const ClassParents& of_file,
                 const std::string& source) {
  std::set<std::string_view> known(class_names.begin(), class_names.end());
  for (const auto& entry : parents) known.insert(entry.second);
  for (const auto& entry : of_file) {
    if (known.contains(entry.first)) continue;
    fail(ErrorKind::kInput, "{}: expected names of classes or of groups, found \"{}\", which is neither", source,
         entry.first);
  }
}

}  // namespace

ClassParents class_groups(std::span<const std::string> class_names, const ClassGroupOptions& options) {
  ClassParents parents;
  if (options.hierarchy) parents = parents_of_paths(class_names);
  if (!options.parents.empty()) {
    const ClassParents of_file = read_parents(options.parents);
    for (const auto& [name, group] : of_file) parents.insert_or_assign(name, group);
    check_names(class_names, parents, of_file, options.parents.string());
  }
  if (options.wanted() && ClassTree(class_names, parents).empty()) {
    fail(ErrorKind::kInput,
         "expected classes with groups, found none: names like birds/wren, or a file with lines like wren,birds, "
         "make them");
  }
  return parents;
}

}  // namespace annulus
