// Writes groups, copies and outliers.
#include "annulus/report/tables/discover_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "annulus/base/version.h"
#include "annulus/report/tables/table_formats.h"

namespace annulus {
namespace {

constexpr std::size_t kMostGroupsInText = 12;
constexpr std::size_t kMostNamedInText = 3;

nlohmann::ordered_json member_json(const GroupSheet& sheet, std::uint32_t row) {
  if (sheet.paths.empty()) return row;
  return sheet.paths[row];
}

template <class Item, class Words>
std::string first_few(const std::vector<Item>& items, const Words& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamedInText, items.size()); ++i)
    text += "         " + words(items[i]) + "\n";
  return text;
}

}  // namespace

std::string GroupSheet::name_of(std::uint32_t row) const {
  return paths.empty() ? fmt::format("row {}", row) : paths[row];
}

std::size_t GroupSheet::grouped() const {
  std::size_t rows = 0;
  for (const PoolGroup& group : found.groups) rows += group.rows.size();
  return rows;
}

std::string group_name(std::size_t group, std::size_t groups) {
  const std::size_t digits = std::max<std::size_t>(3, std::to_string(groups).size());
  return fmt::format("group-{:0{}}", group + 1, digits);
}

std::string group_sentence(const GroupSheet& sheet, std::size_t group) {
  const std::size_t size = sheet.found.groups[group].rows.size();
  const char* const what = sheet.images ? "photo" : "example";
  std::string text = size == 1 ? fmt::format("1 {} that looks like no other", what)
                               : fmt::format("{} {}s that look alike", size, what);
  if (!sheet.model.empty()) text += fmt::format(" and like nothing that {} was trained on", sheet.model);
  return text;
}

std::string discover_text(const GroupSheet& sheet) {
  const PoolGroups& found = sheet.found;
  std::string text = fmt::format("grouped {} of {} examples from {}: about {} kinds of things\n", sheet.grouped(),
                                 found.examples, sheet.source, found.kinds());
  for (std::size_t g = 0; g < std::min(kMostGroupsInText, found.groups.size()); ++g) {
    text += fmt::format("{:>7}  {:<12}  {}\n", found.groups[g].rows.size(), sheet.names[g],
                        sheet.name_of(found.groups[g].rows.front()));
  }
  if (found.groups.size() > kMostGroupsInText) {
    text += fmt::format("         and {} smaller groups\n", found.groups.size() - kMostGroupsInText);
  }
  if (!found.copies.empty()) {
    text += fmt::format("{:>7}  copies and near copies\n", found.copies.size());
    text += first_few(found.copies, [&](const DuplicatePair& pair) {
      return fmt::format("{} is {} {}", sheet.name_of(pair.second), pair.exact ? "the same as" : "nearly the same as",
                         sheet.name_of(pair.first));
    });
  }
  if (!found.outliers.empty()) {
    text += fmt::format("{:>7}  outliers, far from all others\n", found.outliers.size());
    text += first_few(found.outliers, [&](const Outlier& outlier) { return sheet.name_of(outlier.row); });
  }
  return text;
}

std::string discover_csv(const GroupSheet& sheet, const std::vector<std::string>& file_names) {
  const std::vector<std::uint32_t> group = group_of_rows(sheet.found);
  std::vector<std::string> copy_of(group.size());
  for (const DuplicatePair& pair : sheet.found.copies) {
    copy_of[pair.second] = file_names.empty() ? std::to_string(pair.first) : escape_csv(file_names[pair.first]);
  }
  std::vector<std::uint8_t> outlier(group.size(), 0);
  for (const Outlier& found : sheet.found.outliers) outlier[found.row] = 1;
  std::string text = fmt::format("{},label,cover,copy_of,outlier\n", file_names.empty() ? "row" : "file_name");
  for (std::uint32_t row = 0; row < group.size(); ++row) {
    if (group[row] == kNoGroup) continue;
    const bool cover = sheet.found.groups[group[row]].rows.front() == row;
    text += fmt::format("{},{},{},{},{}\n", file_names.empty() ? std::to_string(row) : escape_csv(file_names[row]),
                        escape_csv(sheet.names[group[row]]), cover ? 1 : 0, copy_of[row], outlier[row]);
  }
  return text;
}

std::string discover_json_lines(const GroupSheet& sheet) {
  std::string text;
  for (std::size_t g = 0; g < sheet.found.groups.size(); ++g) {
    const PoolGroup& group = sheet.found.groups[g];
    nlohmann::ordered_json members = nlohmann::ordered_json::array();
    for (const std::uint32_t row : group.rows) members.push_back(member_json(sheet, row));
    const nlohmann::ordered_json json{
        {"group", g + 1},           {"name", sheet.names[g]}, {"size", group.rows.size()}, {"cohesion", group.cohesion},
        {"cover", members.front()}, {"members", members}};
    text += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return text;
}

nlohmann::ordered_json discover_json(const GroupSheet& sheet) {
  const PoolGroups& found = sheet.found;
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const PoolGroup& group : found.groups) sizes.push_back(group.rows.size());
  nlohmann::ordered_json copies = nlohmann::ordered_json::array();
  for (const DuplicatePair& pair : found.copies) {
    copies.push_back({{"keep", member_json(sheet, pair.first)},
                      {"copy", member_json(sheet, pair.second)},
                      {"cosine", pair.cosine},
                      {"exact", pair.exact}});
  }
  nlohmann::ordered_json outliers = nlohmann::ordered_json::array();
  for (const Outlier& outlier : found.outliers) outliers.push_back(member_json(sheet, outlier.row));
  nlohmann::ordered_json model = nullptr;
  if (!sheet.model.empty()) model = sheet.model;
  return {{"version", kVersion},
          {"source", sheet.source},
          {"examples", found.examples},
          {"grouped", sheet.grouped()},
          {"kinds", found.kinds()},
          {"groups", found.groups.size()},
          {"sizes", sizes},
          {"copies", copies},
          {"outliers", outliers},
          {"unknown_to", model}};
}

}  // namespace annulus
