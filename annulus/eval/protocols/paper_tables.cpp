// Reads the paper's tables from JSON.
#include "annulus/eval/protocols/paper_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using TableJson = nlohmann::json;

constexpr const char* kOnePercent = "Imagenet_1pt";
constexpr double kRounding = 0.05;  // the paper prints one decimal

const TableJson& document() {
  static const TableJson parsed = TableJson::parse(kPaperTablesText);
  return parsed;
}

std::string text_of(const TableJson& object, const char* key) { return object.value(key, std::string()); }

PaperFeatures features_of(const TableJson& table, const TableJson& row) {
  const auto field = [&](const char* key) { return row.contains(key) ? text_of(row, key) : text_of(table, key); };
  PaperFeatures features{field("pretraining"), field("dataset"), field("architecture")};
  if (features.dataset.empty()) features.dataset = kOnePercent;
  return features;
}

PaperCell row_cell(const TableJson& table, const TableJson& row) {
  PaperCell cell;
  cell.features = features_of(table, row);
  cell.method = row.value("method", "ibm2");
  cell.virtual_count = row.value("virtual", std::size_t{0});
  cell.noise_shape = text_of(row, "schema");
  if (cell.noise_shape == "none") {
    cell.noise_shape.clear();
    cell.method = "baseline";
  }
  cell.metric = "accuracy";
  return cell;
}

// One value per number of shots.
void add_shots(const TableJson& table, const TableJson& row, std::vector<PaperCell>& cells) {
  for (std::size_t i = 0; i < table["shots"].size(); ++i) {
    PaperCell cell = row_cell(table, row);
    cell.shots = table["shots"][i];
    const TableJson& value = row["values"][i];
    cell.value = value.is_array() ? value[0] : value;
    if (value.is_array()) cell.deviation = value[1];
    cells.push_back(std::move(cell));
  }
}

void add_episodes(const TableJson& table, const TableJson& row, std::vector<PaperCell>& cells) {
  for (const std::size_t shots : {1U, 5U}) {
    const TableJson& values = row[std::to_string(shots)];
    for (std::size_t i = 0; i < values.size(); ++i) {
      PaperCell cell = row_cell(table, row);
      cell.shots = shots;
      cell.metric = table["metrics"][i];
      cell.rate = PaperRate::kEpisodes;
      cell.value = values[i];
      // The standard error of the mean follows from sigma, the spread of the episodes.
      cell.deviation = values[1];
      cells.push_back(std::move(cell));
    }
  }
}

void add_rates(const TableJson& table, const TableJson& row, std::vector<PaperCell>& cells) {
  for (const auto& [key, rate] : {std::pair{"best", PaperRate::kBest}, std::pair{"default", PaperRate::kStandard}}) {
    if (!row.contains(key)) continue;
    PaperCell cell = row_cell(table, row);
    cell.rate = rate;
    cell.value = row[key];
    cells.push_back(std::move(cell));
  }
}

std::vector<PaperCell> cells_of(const TableJson& table) {
  std::vector<PaperCell> cells;
  if (!table.contains("rows")) return cells;
  for (const TableJson& row : table["rows"]) {
    if (row.contains("values")) {
      add_shots(table, row, cells);
    } else if (table.contains("metrics")) {
      add_episodes(table, row, cells);
    } else {
      add_rates(table, row, cells);
    }
  }
  return cells;
}

// The values of table 1 for the same features and shots.
std::vector<PaperCell> same_in_table_1(const PaperFeatures& features) {
  std::vector<PaperCell> cells = cells_of(document()["table1"]);
  std::erase_if(cells, [&](const PaperCell& cell) { return !(cell.features == features); });
  return cells;
}

double twice(double deviation) { return 2.0 * (deviation + kRounding) + kRounding; }

std::optional<Allowance> episodes_allowance(const PaperCell& cell, std::size_t episodes) {
  // Two means are compared, the paper's and ours, so the variance doubles.
  const double error = *cell.deviation * std::sqrt(2.0 / static_cast<double>(episodes));
  if (cell.metric == "acc_m") return Allowance{2.0 * error + kRounding, "two standard errors of a mean over episodes"};
  if (cell.metric == "sigma") {
    return Allowance{2.0 * error / std::sqrt(2.0) + kRounding, "two standard errors of a deviation over episodes"};
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& paper_table_names() {
  static const std::vector<std::string> kNames = {"table1", "table2", "table3", "table4",
                                                  "table5", "table6", "table7", "figure3"};
  return kNames;
}

PaperTable paper_table(std::string_view name) {
  const auto& names = paper_table_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    fail(ErrorKind::kUsage, "expected one of {}, found \"{}\"", fmt::join(names, ", "), name);
  }
  const TableJson& source = document()["source"];
  const TableJson& table = document()[std::string(name)];
  PaperTable result;
  result.name = name;
  result.title = text_of(table, "title");
  result.note = text_of(table, "note");
  result.source = fmt::format("{}, \"{}\", {}, {} {}", text_of(source, "authors"), text_of(source, "title"),
                              text_of(source, "venue"), name.substr(0, name.size() - 1), name.substr(name.size() - 1));
  result.cells = cells_of(table);
  if (name == "figure3") result.cells = same_in_table_1(features_of(table, table));
  return result;
}

std::string backbone_name(const std::string& architecture) {
  return document()["architectures"].value(architecture, architecture);
}

PaperNetwork paper_network(const PaperFeatures& features) {
  const TableJson& names = document()["networks"];
  const TableJson& presets = document()["preprocessing"];
  const std::string of_all = fmt::format("{}/{}", features.pretraining, features.architecture);
  const std::string of_one = fmt::format("{}/{}/{}", features.pretraining, features.dataset, features.architecture);
  return {names.value(of_one, names.value(of_all, std::string())),
          presets.value(features.pretraining, presets.value(features.dataset, std::string()))};
}

std::optional<Allowance> allowance_of(const PaperCell& cell, std::size_t episodes) {
  if (cell.metric != "accuracy") return episodes_allowance(cell, episodes);
  if (cell.features.dataset == kOnePercent) {
    return Allowance{0.5, "0.5 points: the paper gives no deviation for its one list"};
  }
  if (cell.deviation) return Allowance{twice(*cell.deviation), "two standard deviations of the paper"};
  const std::string method = cell.method == "baseline" ? "baseline" : "ibm2";
  for (const PaperCell& other : same_in_table_1(cell.features)) {
    if (other.method == method && other.shots == cell.shots) {
      return Allowance{
          twice(*other.deviation),
          fmt::format("two standard deviations of the paper's table 1 for {} on the same features", method)};
    }
  }
  return std::nullopt;
}

}  // namespace annulus
