// Reads and checks splits.
#include "annulus/store/features/split_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"

namespace annulus {
namespace {

constexpr std::string_view kSplitsFormat = "annulus-splits/1";

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || text.empty())
    fail(ErrorKind::kIo, "{}: expected a file of splits, found none that can be read", path.string());
  return text;
}

// Support examples in the order of classes; every class must be present.
void check_support(Split& split, const FeatureSet& train, const std::string& where) {
  std::stable_sort(split.support.begin(), split.support.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(train.labels()[a], a) < std::pair(train.labels()[b], b);
  });
  const auto twice = std::adjacent_find(split.support.begin(), split.support.end());
  if (twice != split.support.end())
    fail(ErrorKind::kInput, "{}: expected each row once, found row {} twice", where, *twice);
  std::vector<bool> there(train.classes(), false);
  for (const std::uint32_t row : split.support) there[static_cast<std::size_t>(train.labels()[row])] = true;
  const auto missing = std::find(there.begin(), there.end(), false);
  if (missing != there.end()) {
    fail(ErrorKind::kInput, "{}: expected training examples of every class, found none of {}", where,
         train.class_names()[static_cast<std::size_t>(missing - there.begin())]);
  }
}

std::vector<std::uint32_t> rows_from(const nlohmann::json& list, const FeatureSet& set, const std::string& where) {
  std::vector<std::uint32_t> rows;
  for (const auto& row : list) {
    if (!row.is_number_unsigned() || row.get<std::uint64_t>() >= set.rows()) {
      fail(ErrorKind::kInput, "{}: expected row numbers below {}, found {}", where, set.rows(), row.dump());
    }
    rows.push_back(row.get<std::uint32_t>());
  }
  return rows;
}

void check_apart(const Split& split, const std::string& where) {
  std::vector<std::uint32_t> support = split.support;
  std::sort(support.begin(), support.end());
  for (const std::uint32_t row : split.query) {
    if (std::binary_search(support.begin(), support.end(), row)) {
      fail(ErrorKind::kInput, "{}: expected each row in the support or in the query, found row {} in both", where, row);
    }
  }
}

// Rows by every possible name: the whole path and every suffix of it that starts at a folder or file name.
class RowNames {
 public:
  explicit RowNames(const FeatureSet& set) : set_(set) {
    for (std::uint32_t row = 0; row < set.paths().size(); ++row) {
      const std::string_view path = set.paths()[row];
      add(path, row);
      for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
        add(path.substr(slash + 1), row);
      }
    }
  }

  std::uint32_t find(std::string_view name, const std::string& where) const {
    const auto named = rows_.find(name);
    if (named != rows_.end()) {
      if (named->second == kSeveral) {
        fail(ErrorKind::kInput, "{}: expected a name of one row, found \"{}\", which several have", where, name);
      }
      return named->second;
    }
    std::uint32_t row = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), row);
    if (error != std::errc() || end != name.data() + name.size() || row >= set_.rows()) {
      fail(ErrorKind::kInput, "{}: expected the path or number of one of the {} rows of {}, found \"{}\"", where,
           set_.rows(), set_.source(), name);
    }
    return row;
  }

 private:
  static constexpr std::uint32_t kSeveral = 0xFFFFFFFF;

  void add(std::string_view name, std::uint32_t row) {
    const auto [place, is_new] = rows_.emplace(name, row);
    if (!is_new && place->second != row) place->second = kSeveral;
  }

  const FeatureSet& set_;
  std::map<std::string_view, std::uint32_t> rows_;
};

std::vector<std::uint32_t> query_of(const Split& split, const FeatureSet& train, const FeatureSet& test) {
  std::vector<std::uint32_t> query;
  std::vector<bool> taken(test.rows(), false);
  if (&train == &test) {
    for (const std::uint32_t row : split.support) taken[row] = true;
    for (std::uint32_t row = 0; row < test.is_train().size(); ++row) {
      if (test.is_train()[row] != 0) taken[row] = true;
    }
  }
  for (std::uint32_t row = 0; row < test.rows(); ++row) {
    if (!taken[row]) query.push_back(row);
  }
  return query;
}

}  // namespace

void write_splits(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test,
                  std::span<const Split> splits) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Split& split : splits) {
    list.push_back({{"shots", split.shots}, {"seed", split.seed}, {"support", split.support}, {"query", split.query}});
  }
  const nlohmann::ordered_json json = {
      {"format", kSplitsFormat}, {"train_rows", train.rows()}, {"test_rows", test.rows()}, {"splits", std::move(list)}};
  write_file(path, json.dump() + "\n");
}

std::vector<Split> read_splits(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test) {
  std::vector<Split> splits;
  try {
    const auto json = nlohmann::json::parse(read_text(path));
    if (json.at("format") != kSplitsFormat) {
      fail(ErrorKind::kFormat, "{}: expected format {}, found {}", path.string(), kSplitsFormat,
           json.at("format").dump());
    }
    for (const auto& [name, set] : {std::pair("train_rows", &train), std::pair("test_rows", &test)}) {
      if (json.at(name).get<std::size_t>() != set->rows()) {
        fail(ErrorKind::kInput, "{}: expected splits from {} rows as in {}, found splits from {}", path.string(),
             set->rows(), set->source(), json.at(name).dump());
      }
    }
    for (const auto& entry : json.at("splits")) {
      const std::string where = fmt::format("{}, split {}", path.string(), splits.size());
      Split split;
      split.shots = entry.at("shots").get<std::size_t>();
      split.seed = entry.at("seed").get<std::uint64_t>();
      split.support = rows_from(entry.at("support"), train, where);
      split.query = rows_from(entry.at("query"), test, where);
      check_support(split, train, where);
      if (&train == &test) check_apart(split, where);
      splits.push_back(std::move(split));
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected a split file, found something else: {}", path.string(), error.what());
  }
  if (splits.empty()) fail(ErrorKind::kFormat, "{}: expected at least one split, found none", path.string());
  std::stable_sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.shots < b.shots; });
  return splits;
}

Split read_row_list(const std::filesystem::path& path, const FeatureSet& train, const FeatureSet& test) {
  const std::string text = read_text(path);
  const RowNames names(train);
  Split split;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    split.support.push_back(names.find(line, fmt::format("{}, line {}", path.string(), number)));
  }
  check_support(split, train, path.string());
  split.query = query_of(split, train, test);
  return split;
}

}  // namespace annulus
